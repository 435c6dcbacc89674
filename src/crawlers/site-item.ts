// A page to fetch as one line of text, for the frontier.
import type { QueueCodec, Queued } from './crawl-queue.ts'
import { notARequest } from './request-text.ts'

export interface SiteItem extends Queued {
  /** The URLs that redirected here, the one found first. */
  readonly via: readonly string[]
  /** How often it failed. */
  readonly retries: number
  /** It lists pages, or other sitemaps. */
  readonly isSitemap?: true
}

interface Written {
  readonly url: string
  readonly depth?: number
  readonly via?: string[]
  readonly retries?: number
  readonly sitemap?: true
  /** Of version 0.1.0, where items were Crawlee's requests. */
  readonly retryCount?: number
  readonly userData?: { readonly __crawlee?: { readonly crawlDepth?: number } }
}

const isCount = (value: unknown) =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)

// Throws an error of one line for a text that this crawler did not write.
function parse(text: string): Written {
  let item: Written | null
  try {
    item = JSON.parse(text) as Written | null
  } catch {
    throw notARequest(text)
  }
  const { url, depth, via = [], retries, retryCount, userData } = item ?? ({} as Written)
  const isVia = Array.isArray(via) && via.every((one) => typeof one === 'string')
  const counts = [depth, retries, retryCount, userData?.__crawlee?.crawlDepth]
  if (typeof url !== 'string' || !isVia || !counts.every(isCount)) throw notARequest(text)
  return item!
}

export const siteItems: QueueCodec<SiteItem> = {
  textOf({ url, depth, via, retries, isSitemap }: SiteItem): string {
    return JSON.stringify({
      url,
      ...(depth > 0 && { depth }),
      ...(via.length > 0 && { via }),
      ...(retries > 0 && { retries }),
      ...(isSitemap && { sitemap: true }),
    })
  },
  itemOf(text: string): SiteItem {
    const { url, depth, via = [], retries, retryCount, userData, sitemap } = parse(text)
    return {
      url,
      depth: depth ?? userData?.__crawlee?.crawlDepth ?? 0,
      via,
      retries: retries ?? retryCount ?? 0,
      ...(sitemap === true && { isSitemap: true }),
    }
  },
  keyOf: ({ url }) => url,
  keyIn: (text) => parse(text).url,
}
