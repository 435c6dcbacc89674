export declare const kernelBytes: string;
