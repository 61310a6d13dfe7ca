/**
 * The one table of routes: what exists, whether it needs a token, which body it takes and what its success is.
 * The order of rows is that of the documentation; `match` reads it as a tree.
 */

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** What `data` of a request must be: nothing is asked of it, an object, or an object or a list. */
export type BodyKind = 'none' | 'object' | 'object or list'

/** Operations are named as in the OpenAPI document. */
export type Operation =
  | 'signInByApiKey'
  | 'signInByCredentials'
  | 'signOut'
  | 'readApiKey'
  | 'rotateApiKey'
  | 'listHooks'
  | 'listSamples'
  | 'readSample'
  | 'listWebhooks'
  | 'createWebhook'
  | 'reenableWebhooks'
  | 'reenableDescendantWebhooks'
  | 'readWebhook'
  | 'replaceWebhook'
  | 'patchWebhook'
  | 'deleteWebhook'
  | 'listAttempts'
  | 'listWebhookAttempts'
  | 'testWebhook'
  | 'replayWebhook'
  | 'listDeliveries'
  | 'readDelivery'
  | 'readSecret'
  | 'rotateSecret'
  | 'listCallAttempts'
  | 'publishEvents'
  | 'readOpenapi'

export interface Route {
  readonly operation: Operation
  readonly method: Method
  /** Below the version, parameters in braces: `/accounts/{account_id}/webhooks`. */
  readonly path: string
  readonly token: boolean
  readonly body: BodyKind
  /** Status of a success. */
  readonly status: number
  /** Issues a token; one that is sent along is not even looked at. */
  readonly login?: boolean
  /** The answer holds a secret: no cache may keep it. */
  readonly secret?: boolean
  /** The answer is a list: paging, ranges and filters apply. */
  readonly list?: boolean
  /** Only where the host asked for it (`--ingest`). */
  readonly ingest?: boolean
}

const ACCOUNT = '/accounts/{account_id}'
const WEBHOOKS = `${ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`

const open = { token: false, body: 'none', status: 200 } as const
const read = { token: true, body: 'none', status: 200 } as const
const login = { token: false, body: 'object', status: 201, login: true, secret: true } as const
const change = { token: true, body: 'object', status: 200 } as const

export const ROUTES: readonly Route[] = [
  { operation: 'signInByApiKey', method: 'PUT', path: '/api_auth', ...login },
  { operation: 'signInByCredentials', method: 'PUT', path: '/user_auth', ...login },
  { operation: 'signOut', method: 'DELETE', path: '/token_auth', ...read },
  { operation: 'readApiKey', method: 'GET', path: `${ACCOUNT}/api_key`, ...read, secret: true },
  {
    operation: 'rotateApiKey',
    method: 'PUT',
    path: `${ACCOUNT}/api_key`,
    ...read,
    status: 201,
    secret: true,
  },

  { operation: 'listHooks', method: 'GET', path: '/webhooks', ...open, list: true },
  { operation: 'listSamples', method: 'GET', path: '/webhooks/samples', ...open },
  { operation: 'readSample', method: 'GET', path: '/webhooks/samples/{sample_id}', ...open },

  { operation: 'listWebhooks', method: 'GET', path: WEBHOOKS, ...read, list: true },
  { operation: 'createWebhook', method: 'PUT', path: WEBHOOKS, ...change, status: 201 },
  { operation: 'reenableWebhooks', method: 'PATCH', path: WEBHOOKS, ...change },
  {
    operation: 'reenableDescendantWebhooks',
    method: 'PATCH',
    path: `${ACCOUNT}/descendants/webhooks`,
    ...change,
  },
  { operation: 'listAttempts', method: 'GET', path: `${WEBHOOKS}/attempts`, ...read, list: true },
  { operation: 'readWebhook', method: 'GET', path: WEBHOOK, ...read },
  { operation: 'replaceWebhook', method: 'POST', path: WEBHOOK, ...change },
  { operation: 'patchWebhook', method: 'PATCH', path: WEBHOOK, ...change },
  { operation: 'deleteWebhook', method: 'DELETE', path: WEBHOOK, ...read },
  { operation: 'listWebhookAttempts', method: 'GET', path: `${WEBHOOK}/attempts`, ...read, list: true },

  { operation: 'testWebhook', method: 'PUT', path: `${WEBHOOK}/test`, ...read, status: 202 },
  { operation: 'replayWebhook', method: 'PUT', path: `${WEBHOOK}/replay`, ...change, status: 202 },
  { operation: 'listDeliveries', method: 'GET', path: `${WEBHOOK}/deliveries`, ...read, list: true },
  { operation: 'readSecret', method: 'GET', path: `${WEBHOOK}/secret`, ...read, secret: true },
  { operation: 'rotateSecret', method: 'PUT', path: `${WEBHOOK}/secret`, ...read, status: 201, secret: true },
  { operation: 'readDelivery', method: 'GET', path: `${ACCOUNT}/deliveries/{delivery_id}`, ...read },
  {
    operation: 'listCallAttempts',
    method: 'GET',
    path: `${ACCOUNT}/calls/{call_id}/attempts`,
    ...read,
    list: true,
  },
  {
    operation: 'publishEvents',
    method: 'PUT',
    path: `${ACCOUNT}/events`,
    token: true,
    body: 'object or list',
    status: 202,
    ingest: true,
  },
  { operation: 'readOpenapi', method: 'GET', path: '/openapi.json', ...open },
]
