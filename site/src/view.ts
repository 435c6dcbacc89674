// What the views share: their frame, error messages, form fields and the verdict mark.
import { ApiError, type Verdict } from './api.ts'
import { type Attributes, type Child, fill, h } from './dom.ts'
import type { Live } from './live.ts'

export interface Frame {
  readonly root: HTMLElement
  readonly live: Live
  /** The part of the address after the view's; empty when there is none. */
  readonly name: string
  readonly query: URLSearchParams
  /** Aborted when the view ends. */
  readonly signal: AbortSignal
}

/** Draws a view into its frame. */
export type View = (frame: Frame) => void | Promise<void>

export const heading = (title: Child, ...lede: Child[]): HTMLElement =>
  h(
    'div',
    { class: 'heading' },
    h('h1', { tabindex: '-1' }, title),
    lede.length > 0 && h('p', { class: 'lede' }, ...lede),
  )

/** A message in place of missing content, with what to do. */
export const notice = (title: string, ...children: Child[]): HTMLElement =>
  h('div', { class: 'notice' }, h('p', { class: 'notice-title' }, title), ...children)

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** An error message, announced by screen readers when it changes. */
export class ErrorLine {
  readonly element = h('p', { class: 'error-line', role: 'alert' })

  clear(): void {
    fill(this.element)
  }

  show(error: unknown): void {
    fill(this.element, messageOf(error))
  }

  /** Runs `act` with the button disabled and shows its error. Returns whether it succeeded. */
  async during(button: HTMLButtonElement, act: () => Promise<void>): Promise<boolean> {
    this.clear()
    button.disabled = true
    try {
      await act()
      return true
    } catch (error) {
      this.show(error)
      return false
    } finally {
      button.disabled = false
    }
  }
}

export const verdictMark = (verdict: Verdict): HTMLElement =>
  h('strong', { class: `verdict ${verdict}` }, verdict)

export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** A label with its input below, and a hint that belongs to it. */
export function labelled(label: Child, input: HTMLElement, hint?: string): HTMLElement {
  const described = hint !== undefined && h('span', { class: 'hint', id: `${input.id}-hint` }, hint)
  if (described) input.setAttribute('aria-describedby', described.id)
  return h('div', { class: 'field' }, h('label', { for: input.id }, label), input, described)
}

/** A field for a URL, a folder or a name, without the browser's corrections. */
export const plainInput = (id: string, more: Attributes = {}): HTMLInputElement =>
  h('input', { id, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', ...more })
