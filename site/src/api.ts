// The server's HTTP API as functions. Addresses are relative, so the page works under any path; the password is stored for
// the tab and sent with every request.
import type { Explanation as Answer, Plan, Stats } from '../../src/index.ts'
import type { Load } from '../../src/server/load-values.ts'
import type { ShapesReport } from '../../src/shapes/shape-report.ts'

export interface SieveInfo {
  readonly name: string
  readonly kind: 'sieve' | 'bloom' | 'set'
  readonly createdAt: string
  readonly expiresAt?: string
  readonly can: { readonly forget: boolean; readonly under: boolean }
  readonly meters: {
    readonly adds: number
    readonly fresh: number
    readonly seen: number
    readonly asks: number
  }
  readonly stats: Stats
  readonly plan?: Plan
  readonly bloom?: { readonly capacity: number; readonly errorRate: number; readonly expansion: number }
}

/** One sieve in a snapshot of /v1/live. */
export interface LiveSieve {
  readonly name: string
  readonly kind: string
  readonly filter: string
  readonly profile: string
  readonly adds: number
  readonly fresh: number
  readonly seen: number
  readonly asks: number
  readonly urls: number
  readonly sizeBytes: number
  readonly fill: number
  readonly expectedRate: number | null
  readonly promisedRate: number | null
  readonly noPromise?: string
  readonly pastCapacity: boolean
  /** Of a stored sieve: its log and snapshot. */
  readonly diskBytes?: number
  readonly isSnapshotting?: boolean
}

/** A fault of the server or of one of its sieves. */
export interface Fault {
  readonly kind: 'set-aside' | 'past-capacity' | 'disk' | 'redis'
  readonly sieve?: string
  readonly message: string
  readonly since: string
}

export type PastSpan = 'hour' | 'day'

/** What the server has recorded, oldest first; times are in seconds. */
export interface Recorded {
  readonly stepSeconds: number
  readonly times: readonly number[]
  readonly values: Readonly<Record<string, readonly (number | null)[]>>
}

/** Where the sieves are stored: `memory` is lost at the end. */
export interface Storage {
  readonly kind: 'memory' | 'folder' | 'redis'
  readonly place?: string
  readonly freeBytes?: number
  readonly totalBytes?: number
}

export interface Snapshot {
  readonly at: string
  readonly uptimeSeconds: number
  readonly sizeBytes: number
  /** The most that all sieves may take. */
  readonly limitBytes?: number
  readonly storage?: Storage
  /** Shapes of recent URLs are collected. */
  readonly hasShapes?: boolean
  readonly connections: { readonly resp: number; readonly http: number }
  readonly load: Load
  readonly faults: readonly Fault[]
  readonly sieves: readonly LiveSieve[]
}

/** The shapes of a sample of a sieve's recent URLs. */
export interface SieveShapes extends Pick<ShapesReport, 'urls' | 'invalid' | 'list'> {
  /** Absent: no URL was added yet. */
  readonly since?: string
}

export type Verdict = 'new' | 'seen'

export interface LayerVerdict {
  readonly name: string
  /** Its part of the key. */
  readonly of: string
  readonly verdict: Verdict
}

export interface Explanation extends Answer {
  readonly layers?: readonly LayerVerdict[]
  readonly decidedBy?: string
}

export type KeyExplanation = Pick<Explanation, 'url' | 'key' | 'isUrl' | 'steps'>

export interface FilterInfo {
  readonly name: string
  readonly does: string
  readonly source: string
  readonly errs: string
  /** A paper's filter, for comparison with the others. */
  readonly isResearch: boolean
  readonly can: { readonly delete: boolean; readonly grow: boolean; readonly under: boolean }
}

/** What a sieve with some options would take. */
export interface SievePlan {
  readonly plan: Plan
  /** With what a sieve takes besides its filter. */
  readonly memoryBytes: number
  readonly availableBytes?: number
}

export interface ProfileInfo {
  readonly name: string
  readonly does: string
  readonly rules: readonly { readonly name: string; readonly does: string; readonly lossy: boolean }[]
}

/** An error answer of the server, with its detail; status 0: the server cannot be reached. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const PASSWORD = 'urlsieve-password'
const UNREACHABLE = 'The server does not answer.'

const encoder = new TextEncoder()

/**
 * Whether the browser may send a password of its own. If the page itself needed none the browser has none, and would open
 * a prompt of its own.
 */
let credentials: Promise<RequestCredentials> | null = null

async function findCredentials(): Promise<RequestCredentials> {
  try {
    const { status } = await fetch('v1/server', { credentials: 'omit', headers: authorization() })
    return status === 401 ? 'same-origin' : 'omit'
  } catch (error) {
    credentials = null
    throw error
  }
}

export function setPassword(password: string): void {
  sessionStorage.setItem(PASSWORD, password)
  credentials = Promise.resolve('omit')
}

// Basic, since a header may not contain characters past Latin-1 and a password may.
function authorization(): Record<string, string> {
  const password = sessionStorage.getItem(PASSWORD)
  if (password === null) return {}
  return { authorization: `Basic ${btoa(String.fromCharCode(...encoder.encode(`:${password}`)))}` }
}

async function refusal(response: Response): Promise<ApiError> {
  let detail = ''
  try {
    detail = ((await response.json()) as { detail?: string }).detail ?? ''
  } catch {
    // Not problem+json: for example the answer of a proxy.
  }
  return new ApiError(response.status, detail || `The server answered ${response.status}.`)
}

/** A request with the password; throws an ApiError unless the answer is a success. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    credentials ??= findCredentials()
    const headers = { ...authorization(), ...init.headers }
    response = await fetch(path, { ...init, headers, credentials: await credentials })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, UNREACHABLE)
  }
  if (!response.ok) throw await refusal(response)
  return response
}

/** How long after a lost answer a request with a key is sent again. */
const AGAIN_MS = 500

// Not crypto.randomUUID, which a page on plain HTTP does not have.
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16)).join('-')

/** A request that changes something has a key: sent again after a lost answer, it gets the first one. */
async function keyed(path: string, init: RequestInit): Promise<Response> {
  const sent = { ...init, headers: { ...init.headers, 'idempotency-key': newKey() } }
  try {
    return await request(path, sent)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) throw error
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    return request(path, sent)
  }
}

async function json<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await (method === 'GET' ? request(path, init) : keyed(path, init))
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

const at = (name: string, verb = ''): string => `v1/sieves/${encodeURIComponent(name)}${verb && `/${verb}`}`

export interface Verdicts {
  readonly verdicts: readonly Verdict[]
  readonly new: number
  readonly seen: number
}

export const api = {
  sieve: (name: string) => json<SieveInfo>(at(name)),
  create: (name: string, spec: object) => json<SieveInfo>(at(name), 'PUT', spec),
  plan: (spec: object) => json<SievePlan>('v1/plan', 'POST', spec),
  drop: (name: string) => json<void>(at(name), 'DELETE'),
  save: (name: string) => json<void>(at(name, 'save'), 'POST'),
  add: (name: string, urls: readonly string[]) => json<Verdicts>(at(name, 'add'), 'POST', { urls }),
  shapes: (name: string) => json<SieveShapes>(at(name, 'shapes')),
  forget: (name: string, urls: readonly string[]) =>
    json<{ forgotten: readonly boolean[]; count: number }>(at(name, 'forget'), 'POST', { urls }),
  explain: (name: string, url: string) =>
    json<Explanation>(`${at(name, 'explain')}?${new URLSearchParams({ url })}`),
  under: (name: string, folder: string) =>
    json<{ folder: string; seen: boolean }>(`${at(name, 'under')}?${new URLSearchParams({ folder })}`),
  key: (url: string, profile: string) => json<KeyExplanation>('v1/explain', 'POST', { url, profile }),
  filters: async () => (await json<{ filters: FilterInfo[] }>('v1/filters')).filters,
  profiles: async () => (await json<{ profiles: ProfileInfo[] }>('v1/profiles')).profiles,
  /** Of a sieve, or of the server. */
  history: (span: PastSpan, sieve: string | null) =>
    json<Recorded>(`${sieve === null ? 'v1/history' : at(sieve, 'history')}?span=${span}`),
  sieves: async () => (await json<{ sieves: SieveInfo[] }>('v1/sieves')).sieves,
  /** Whether there is a report of the lab. */
  hasReport: async () => {
    try {
      return (await request('report/', { method: 'HEAD' })).ok
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    }
  },
}
