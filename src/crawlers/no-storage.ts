// Crawlee's base class of request queues needs a storage client. A SieveQueue stores its requests without one: these
// methods are never called by its own, and refuse everyone else.
import type { RequestProvider, RequestProviderOptions } from '@crawlee/core'
import { SieveError } from '../errors.ts'

const refusal = () =>
  new SieveError('option', 'a SieveQueue has no storage client: use the methods of the queue')

function refuse(): never {
  throw refusal()
}

const reject = async (): Promise<never> => {
  throw refusal()
}

const client: RequestProvider['client'] = {
  get: reject,
  update: reject,
  delete: reject,
  listHead: reject,
  addRequest: reject,
  batchAddRequests: reject,
  getRequest: reject,
  updateRequest: reject,
  deleteRequest: reject,
  listAndLockHead: reject,
  prolongRequestLock: reject,
  deleteRequestLock: reject,
}

export const noStorage: RequestProviderOptions['client'] = {
  datasets: refuse,
  dataset: refuse,
  keyValueStores: refuse,
  keyValueStore: refuse,
  requestQueues: refuse,
  requestQueue: () => client,
}
