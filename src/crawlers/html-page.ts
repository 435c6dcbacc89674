// The title, links and visible text of an HTML page. Parsed as a stream of tokens without building a tree, so that time and
// memory are linear in the input, however tags are nested or left open, and a page without <body> still has its text.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import type { Directives } from './page-signals.ts'
import { PageTags, type TagOptions } from './page-tags.ts'

/** Elements whose text is not visible. */
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'title', 'iframe', 'noembed', 'noframes'])
/** Elements that end a line: their text is separated from the text before. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form frame h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li main menu nav noscript ol optgroup ' +
    'option p pre search section select summary table tbody td textarea tfoot th thead title tr ul'
  ).split(' '),
)
/** Longer names are ignored. */
const LONGEST_NAME = 16
/** Characters of a title that are kept. */
const TITLE_CHARACTERS = 1000
/** Characters parsed at a time, so that a page received byte by byte is not stored byte by byte. */
const PIECE_CHARACTERS = 16_384
/** In HTML this begins a comment that ends at the next `>`; the tokenizer would look for `]]>`. */
const CDATA = '<![CDATA['

export interface HtmlPageOptions extends TagOptions {
  /** Characters of a link. */
  readonly urlCharacters: number
  readonly isXml: boolean
  /** Whether `text` is wanted. */
  readonly wantsText: boolean
}

export class HtmlPage implements TokenizerCallbacks {
  /** Links longer than the limit. */
  longLinks = 0
  readonly #options: HtmlPageOptions
  readonly #tokenizer: Tokenizer
  readonly #tags: PageTags
  /** Chunks of input that tokens may still refer to, and the offset of the first one. */
  readonly #pieces: string[] = []
  #start = 0
  /** Not parsed yet: too short, or the start of a CDATA mark that may continue in the next chunk. */
  #rest = ''
  #text: string[] = []
  #title: string[] = []
  #titleLength = 0
  #hasTitle = false
  /** Links whose characters exceed those of a body. */
  #linksLeft = 0
  /** Open hidden elements, by name. */
  readonly #hidden = new Map<string, number>()
  /** The current tag, its attributes that are wanted, and the one that is being read. */
  #tag = ''
  #values = new Map<string, string | undefined>()
  #attribute = ''
  #value: string[] | null = null
  #valueLength = 0

  constructor(options: HtmlPageOptions) {
    this.#options = options
    this.#tags = new PageTags(options)
    this.#tokenizer = new Tokenizer({ xmlMode: options.isXml }, this)
  }

  write(piece: string): void {
    this.#rest += piece
    if (this.#rest.length < PIECE_CHARACTERS) return
    const text = this.#rest
    const kept = this.#options.isXml ? 0 : startedAtEnd(text, CDATA)
    this.#rest = text.slice(text.length - kept)
    this.#feed(text.slice(0, text.length - kept))
  }

  end(): void {
    this.#feed(this.#rest)
    this.#rest = ''
    this.#tokenizer.end()
    this.#pieces.length = 0
  }

  get title(): string {
    return squeeze(this.#title.join('')).slice(0, TITLE_CHARACTERS)
  }

  /** Links beyond the limits of a page. */
  get linksOver(): number {
    return this.#tags.linksOver + this.#linksLeft
  }

  /** Links with rel=nofollow, which are not among the others. */
  get nofollowLinks(): number {
    return this.#tags.nofollowLinks
  }

  /** What meta robots demands. */
  get directives(): Directives {
    return this.#tags.directives
  }

  /** The canonical link of the page at `url`, absolute; null: none. */
  canonicalAt(url: string): string | null {
    const target = resolve(this.#tags.canonical, resolve(this.#tags.base, url) ?? url)
    return target !== null && target.length <= this.#options.urlCharacters ? target : null
  }

  /** The visible text, without markup, whitespace collapsed. */
  get text(): string {
    return squeeze(this.#text.join(''))
  }

  /**
   * The http and https links of the page at `url`, absolute, with repeats, within the limits: all links together have at
   * most `characters`, since a long <base> makes every link long.
   */
  *linksAt(url: string, characters: number): Generator<string> {
    const { links } = this.#tags
    const base = resolve(this.#tags.base, url) ?? url
    let room = characters
    for (const [i, link] of links.entries()) {
      const target = resolve(link, base)
      if (target === null || !/^https?:/.test(target)) continue
      if (target.length > this.#options.urlCharacters) {
        this.longLinks++
        continue
      }
      room -= target.length
      if (room < 0) {
        this.#linksLeft = links.length - i
        return
      }
      yield target
    }
  }

  #feed(text: string): void {
    if (text === '') return
    const piece = this.#options.isXml ? text : text.replaceAll(CDATA, '<!x[CDATA')
    this.#pieces.push(piece)
    this.#tokenizer.write(piece)
  }

  // Tokens come in order: the input before one is not needed again.
  #slice(start: number, end: number): string {
    while (this.#pieces.length > 1 && start >= this.#start + this.#pieces[0]!.length) {
      this.#start += this.#pieces.shift()!.length
    }
    let slice = this.#pieces[0]!.slice(start - this.#start, end - this.#start)
    for (let i = 1, at = this.#start + this.#pieces[0]!.length; at < end; i++) {
      slice += this.#pieces[i]!.slice(0, end - at)
      at += this.#pieces[i]!.length
    }
    return slice
  }

  // '' for a name that is not in any of the sets.
  #name(start: number, end: number): string {
    return end - start > LONGEST_NAME ? '' : this.#slice(start, end).toLowerCase()
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end)
    this.#values.clear()
    if (BLOCKS.has(this.#tag)) this.#space()
  }

  onattribname(start: number, end: number): void {
    const name = this.#name(start, end)
    const isWanted = this.#tags.wanted(this.#tag)?.includes(name) && !this.#values.has(name)
    this.#attribute = name
    this.#value = isWanted ? [] : null
    this.#valueLength = 0
  }

  onattribdata(start: number, end: number): void {
    if (!this.#value) return
    this.#valueLength += end - start
    if (this.#valueLength <= this.#options.urlCharacters) this.#value.push(this.#slice(start, end))
  }

  onattribentity(codePoint: number): void {
    if (!this.#value) return
    this.#valueLength += 1
    if (this.#valueLength <= this.#options.urlCharacters) this.#value.push(characterOf(codePoint))
  }

  onattribend(): void {
    if (!this.#value) return
    const isLong = this.#valueLength > this.#options.urlCharacters
    this.#values.set(this.#attribute, isLong ? undefined : this.#value.join(''))
    this.#value = null
    if (isLong && (this.#attribute === 'href' || this.#attribute === 'src')) this.longLinks++
  }

  onopentagend(): void {
    this.#end()
    this.#hide()
  }

  onselfclosingtag(): void {
    this.#end()
    // A slash closes an element in XML only; the tokenizer takes a script, style or title that has one for closed.
    if (!this.#options.isXml && !TOKENIZED.has(this.#tag)) this.#hide()
  }

  onclosetag(start: number, end: number): void {
    const tag = this.#name(start, end)
    if (BLOCKS.has(tag)) this.#space()
    const open = this.#hidden.get(tag)
    if (open === undefined) return
    if (tag === 'title') this.#hasTitle = true
    if (open === 1) this.#hidden.delete(tag)
    else this.#hidden.set(tag, open - 1)
  }

  ontext(start: number, end: number): void {
    if (this.#isTitle()) this.#addTitle(this.#slice(start, end))
    else if (this.#isText()) this.#text.push(this.#slice(start, end))
  }

  ontextentity(codePoint: number): void {
    if (this.#isTitle()) this.#addTitle(characterOf(codePoint))
    else if (this.#isText()) this.#text.push(characterOf(codePoint))
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.ontext(start, end - endOffset)
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #end(): void {
    if (this.#values.size > 0) this.#tags.add(this.#tag, this.#values)
  }

  #hide(): void {
    if (HIDDEN.has(this.#tag)) this.#hidden.set(this.#tag, (this.#hidden.get(this.#tag) ?? 0) + 1)
  }

  #isTitle(): boolean {
    return !this.#hasTitle && this.#hidden.has('title')
  }

  #isText(): boolean {
    return this.#options.wantsText && this.#hidden.size === 0
  }

  #addTitle(text: string): void {
    // Twice the limit: some of it may be whitespace.
    if (this.#titleLength > 2 * TITLE_CHARACTERS) return
    this.#titleLength += text.length
    this.#title.push(text)
  }

  #space(): void {
    if (this.#isText()) this.#text.push(' ')
  }
}

/** Elements whose content the tokenizer reads as text up to the end tag. */
const TOKENIZED = new Set(['script', 'style', 'title', 'textarea', 'xmp'])

/** Collapses whitespace. */
const squeeze = (text: string) => text.replace(/\s+/g, ' ').trim()

const characterOf = (codePoint: number) => String.fromCodePoint(codePoint)

/** How many characters at the end of a text are a beginning of `word`. */
function startedAtEnd(text: string, word: string): number {
  const from = text.lastIndexOf(word[0]!)
  if (from < 0 || text.length - from >= word.length) return 0
  return word.startsWith(text.slice(from)) ? text.length - from : 0
}

/** An absolute URL without its fragment; null: not a URL. */
export function resolve(link: string | undefined, base: string): string | null {
  if (link === undefined || !URL.canParse(link, base)) return null
  const url = new URL(link, base)
  url.hash = ''
  return url.href
}
