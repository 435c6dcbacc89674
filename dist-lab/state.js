export const STATE = Symbol('urlsieve.state');
