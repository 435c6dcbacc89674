// Creates elements in one expression: name, attributes, children. An attribute that is a function is an event handler.

export type Child = Node | string | number | null | undefined | false | readonly Child[]
/** Characters that turn or isolate the direction of text, so that a name looks like another one. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of clients, with such characters as `\\u202e`. */
export const visible = (text: string): string =>
  text.replaceAll(TURNING, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The name of a sieve, whose direction leaves the text around it alone. */
export const nameText = (name: string): HTMLElement => h('bdi', {}, name)

type Attribute = string | number | boolean | null | undefined | ((event: Event) => void)
export type Attributes = Readonly<Record<string, Attribute>>

const SVG = 'http://www.w3.org/2000/svg'

function build<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value))
  }
  append(element, children)
  return element
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (typeof child === 'object' && !(child instanceof Node)) append(element, child)
    else element.append(child instanceof Node ? child : visible(String(child)))
  }
}

/** `h('p', { class: 'hint' }, 'text', element)`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return build(document.createElement(tag), attributes, children)
}

/** The same for SVG elements. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return build(document.createElementNS(SVG, tag), attributes, children)
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren()
  append(element, children)
}

/** Sets an element's text if it is different. */
export function setText(element: Element, text: string): void {
  const shown = visible(text)
  if (element.textContent !== shown) element.textContent = shown
}

/** A pair of term and description, for a list of facts. */
export const fact = (term: string, ...value: Child[]): HTMLElement =>
  h('div', {}, h('dt', {}, term), h('dd', {}, ...value))

let ids = 0

/** A unique id. */
export const uniqueId = (word: string): string => `${word}-${++ids}`

/** Whether the user prefers reduced motion. */
export const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches
