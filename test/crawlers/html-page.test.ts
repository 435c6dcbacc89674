// What is read from a page: text as a browser has it, links, title; whole or in any cuts; in linear time whatever the page.
import { describe, expect, it } from 'vitest'
import { HtmlPage, type HtmlPageOptions } from '../../src/crawlers/html-page.ts'
import { crawlLimits } from '../../src/crawlers/limits.ts'

const HERE = 'http://example.com/dir/page'
const { links, urlCharacters, bodyBytes } = crawlLimits

function read(html: string, options: Partial<HtmlPageOptions> = {}, piece = 65_536) {
  const page = new HtmlPage({
    links,
    urlCharacters,
    allTypes: false,
    isXml: false,
    wantsText: true,
    ...options,
  })
  for (let at = 0; at < html.length; at += piece) page.write(html.slice(at, at + piece))
  page.end()
  const found = [...page.linksAt(HERE, bodyBytes)]
  const { title, text, longLinks, linksOver } = page
  return { title, text, links: found, longLinks, linksOver }
}

describe('text as a browser has it', () => {
  it.each([
    ['without <body>', '<title>T</title><p>one <b>t</b>wo', 'one two'],
    ['without any tag', 'just text', 'just text'],
    ['with one', '<html><head><title>T</title></head><body class=x>one</body></html>', 'one'],
    ['after the head was left open', '<head><meta charset=utf-8><link rel=x>one', 'one'],
    ['blocks are apart, inline elements are not', '<li>a<li>b</ul>c<br>d<td>e<span>f</span>', 'a b c d ef'],
    ['entities', 'caf&eacute; &amp; &#x41;&#66; &notit; &bogus; &', 'café & AB ¬it; &bogus; &'],
    ['scripts and styles are none', 'a<script>if (a<b) "</p>"</script>b<style>p > a {}</style>c', 'abc'],
    ['templates, also nested', 'a<template>x<template>y</template>z</template>b', 'ab'],
    ['noscript and frames', 'a<noscript>x<img></noscript><iframe src=f>y</iframe>b', 'a b'],
    ['comments', 'a<!-- x -- y --->b<!-->c<!x>d<?php z ?>e', 'abcde'],
    ['CDATA is a comment up to >', 'a<![CDATA[ x > y ]]>b', 'a y ]]>b'],
    ['a textarea and its text', 'a<textarea><b>x</textarea>b', 'a <b>x b'],
    ['images alone', '<img src=1.jpg><img src=2.jpg>', ''],
  ])('%s', (_, html, text) => {
    expect(read(html).text).toBe(text)
  })
})

describe('links', () => {
  it.each([
    [
      'absolute, relative, with spaces and fragments',
      '<a href=" x#y ">.<A HREF=\'/z?a&amp;b\'>',
      ['dir/x', 'z?a&b'],
    ],
    ['the first attribute of a name counts', '<a href=x href=y>', ['dir/x']],
    [
      'after <base>, also one that comes later',
      '<a href=x><base href=/b/><a href=y><base href=/c/>',
      ['b/x', 'b/y'],
    ],
    [
      'frames and areas',
      '<area href=x><frame src=y><iframe src=z></iframe><img src=i>',
      ['dir/x', 'dir/y', 'dir/z'],
    ],
    ['no page', '<a href=mailto:x><a href=javascript:y><a href="http://["><a name=x><a href=data:,z>', []],
    [
      'not in scripts, comments or values',
      '<script>"<a href=x>"</script><!--<a href=y>--><b t="<a href=z>">',
      [],
    ],
    [
      'in noscript, templates and unclosed tags',
      '<noscript><a href=x></noscript><template><a href=y><a href=z',
      ['dir/x', 'dir/y'],
    ],
  ])('%s', (_, html, paths) => {
    expect(read(html).links).toEqual(paths.map((path) => `http://example.com/${path}`))
  })

  it('of anything, with allTypes', () => {
    expect(read('<link href=x><img src=y><script src=z></script>', { allTypes: true }).links).toHaveLength(3)
  })

  it('too long or too many are counted', () => {
    const long = `<a href=${'x'.repeat(9000)}><a href=y><a href="${'&amp;'.repeat(9000)}">`
    expect(read(long)).toMatchObject({ links: ['http://example.com/dir/y'], longLinks: 2 })
    expect(read('<a href=x>'.repeat(12), { links: 10 })).toMatchObject({ linksOver: 2, longLinks: 0 })
    // Short links become long ones behind a long base: together no more than a body has.
    const base = `<base href="/${'b'.repeat(8000)}/">${'<a href=x>'.repeat(2000)}`
    const { links: found, linksOver } = read(base)
    expect(found.length + linksOver).toBe(2000)
    expect(found.join('').length).toBeLessThanOrEqual(bodyBytes)
    expect(linksOver).toBeGreaterThan(0)
  })
})

it('the title: the first one, entities and whitespace, at most 1,000 characters', () => {
  expect(read('<title> a\n&amp;  b </title><title>c</title>').title).toBe('a & b')
  expect(read(`<title>${'x'.repeat(5000)}`).title).toHaveLength(1000)
  expect(read('<p>none').title).toBe('')
})

it('XML: elements may close themselves, CDATA is text', () => {
  const xml =
    '<?xml version="1.0"?><html><script src="s"/><title>T</title><p>a<![CDATA[<b>]]></p><a href="x"/></html>'
  expect(read(xml, { isXml: true })).toMatchObject({
    title: 'T',
    text: 'a<b>',
    links: ['http://example.com/dir/x'],
  })
})

it('in pieces of any size it is the same page', () => {
  const unit =
    '<p class="a&amp;b">caf&eacute; <a href="/x?a&amp;b#c">l&#105;nk</a><!-- <a href=no> --><![CDATA[ q > r' +
    '<script>var a = "</scr" + "ipt>"; a<b</script><title>t &lt; u</title><template>h</template>'
  const html = unit.repeat(400)
  const whole = read(html, {}, html.length)
  expect(whole.links).toHaveLength(400)
  for (const piece of [1, 7, 1000, 16_383, 16_385]) expect(read(html, {}, piece)).toEqual(whole)
})

describe('2 MB in seconds, however they are made', () => {
  const SIZE = 2 * 1024 * 1024
  const filled = (unit: string, end = '') => unit.repeat(Math.ceil(SIZE / unit.length)) + end
  it.each([
    ['nested elements', filled('<div>', '<a href=x>')],
    [
      'nested, and closed in another order',
      filled('<div><p><b>').slice(0, SIZE / 2) + filled('</i></p>').slice(0, SIZE / 2),
    ],
    ['nested templates', filled('<template>', '<a href=x>')],
    ['unclosed attributes', filled('<a href="x ')],
    ['attributes of one tag', `<a ${filled('x=1 y ')}>`],
    [
      'different attributes of one tag',
      `<a ${Array.from({ length: 250_000 }, (_, i) => `x${i}`).join(' ')}>`,
    ],
    ['a value', `<a href="${filled('x')}">`],
    ['a name', `<${filled('x')}>`],
    ['entities', filled('&amp;&lt;&#x41;')],
    ['entities that are none', filled('&')],
    ['a number that is none', `&#${filled('1')};`],
    ['entities of a value', `<a href="${filled('&amp;')}">`],
    ['comments', filled('<!--')],
    ['the end of a comment', `<!--${filled('-')}`],
    ['CDATA', filled('<![CDATA[')],
    ['declarations', filled('<!')],
    ['an end of a script', `<script>${filled('</script')}`],
    ['titles', filled('<title>')],
    ['opened tags', filled('<')],
    ['links', filled('<a href=x>')],
    ['spaces', filled(' ')],
    ['null bytes', filled('\0<\0')],
  ])('%s', (_, html) => {
    const started = performance.now()
    read(html)
    read(html, { isXml: true })
    // On a machine that does nothing else: under a second.
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})
