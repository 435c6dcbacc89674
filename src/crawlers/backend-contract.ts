// The contract of a request queue's backend in Crawlee 4, as far as a backend needs it: facts of packages/types of
// apify/crawlee on its way to 4.0 (docs/crawlee.md says which text). Crawlee 4 is not published yet, so nothing is
// imported from it.

export interface BackendRequest {
  readonly id?: string
  readonly url: string
  readonly uniqueKey: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'TRACE' | 'OPTIONS' | 'CONNECT' | 'PATCH'
  readonly payload?: string
  readonly noRetry?: boolean
  readonly retryCount?: number
  readonly errorMessages?: string[]
  readonly headers?: Record<string, string>
  readonly userData?: Record<string, unknown>
  readonly handledAt?: string
  readonly loadedUrl?: string
}

export interface BackendOperationInfo {
  readonly requestId: string
  readonly wasAlreadyPresent: boolean
  readonly wasAlreadyHandled: boolean
}

export interface BackendBatchResult {
  readonly processedRequests: (BackendOperationInfo & { readonly uniqueKey: string })[]
  readonly unprocessedRequests: { readonly uniqueKey: string; readonly url: string }[]
}

export interface BackendMetadata {
  readonly id: string
  readonly name?: string
  readonly createdAt: Date
  readonly modifiedAt: Date
  readonly accessedAt: Date
  readonly totalRequestCount: number
  readonly handledRequestCount: number
  readonly pendingRequestCount: number
}

export interface ForefrontOption {
  /** At the beginning of the queue. */
  readonly forefront?: boolean
}

export interface RequestQueueBackend {
  getMetadata(): Promise<BackendMetadata>
  drop(): Promise<void>
  purge(): Promise<void>
  addBatchOfRequests(
    requests: readonly BackendRequest[],
    options?: ForefrontOption,
  ): Promise<BackendBatchResult>
  getRequest(uniqueKey: string): Promise<(BackendRequest & { readonly id: string }) | undefined>
  fetchNextRequest(): Promise<(BackendRequest & { readonly id: string }) | undefined>
  markRequestAsHandled(request: BackendRequest): Promise<BackendOperationInfo | undefined>
  reclaimRequest(
    request: BackendRequest,
    options?: ForefrontOption,
  ): Promise<BackendOperationInfo | undefined>
  isEmpty(): Promise<boolean>
  isFinished(): Promise<boolean>
  setExpectedRequestProcessingTimeSecs?(secs: number): Promise<void>
}
