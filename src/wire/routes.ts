/**
 * The table of routes: method, path, whether a token is required, kind of body, and status of a success. Rows are in
 * the order of the documentation; `router` turns the table into a tree.
 */

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** Type of `data` in the request body; `none`: it is ignored. */
export type BodyKind = 'none' | 'object' | 'object or list'

/** `operationId` in the OpenAPI document. */
export type OperationId =
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
  | 'listUnhealthyWebhooks'
  | 'searchDeliveries'
  | 'readOpenapi'

export interface Route {
  readonly operation: OperationId
  readonly method: Method
  /** Path below the version, with parameters in braces: `/accounts/{account_id}/webhooks`. */
  readonly path: string
  readonly requiresToken: boolean
  readonly bodyKind: BodyKind
  /** Status of a success. */
  readonly status: number
  /** The operation issues a token; a token in the request is ignored. */
  readonly isLogin?: boolean
  /** The response contains a secret; it must not be cached. */
  readonly hasSecret?: boolean
  /** The response is a list: paging, ranges and filters apply. */
  readonly isList?: boolean
  /** Only operators may use the route. */
  readonly isOperators?: boolean
  /** The route exists only if the host enables it (`--ingest`). */
  readonly isIngest?: boolean
}

const ACCOUNT = '/accounts/{account_id}'
const WEBHOOKS = `${ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`

const open = { requiresToken: false, bodyKind: 'none', status: 200 } as const
const read = { requiresToken: true, bodyKind: 'none', status: 200 } as const
const login = {
  requiresToken: false,
  bodyKind: 'object',
  status: 201,
  isLogin: true,
  hasSecret: true,
} as const
const change = { requiresToken: true, bodyKind: 'object', status: 200 } as const

export const ROUTES: readonly Route[] = [
  { operation: 'signInByApiKey', method: 'PUT', path: '/api_auth', ...login },
  { operation: 'signInByCredentials', method: 'PUT', path: '/user_auth', ...login },
  { operation: 'signOut', method: 'DELETE', path: '/token_auth', ...read },
  { operation: 'readApiKey', method: 'GET', path: `${ACCOUNT}/api_key`, ...read, hasSecret: true },
  {
    operation: 'rotateApiKey',
    method: 'PUT',
    path: `${ACCOUNT}/api_key`,
    ...read,
    status: 201,
    hasSecret: true,
  },

  { operation: 'listHooks', method: 'GET', path: '/webhooks', ...open, isList: true },
  { operation: 'listSamples', method: 'GET', path: '/webhooks/samples', ...open },
  { operation: 'readSample', method: 'GET', path: '/webhooks/samples/{sample_id}', ...open },

  { operation: 'listWebhooks', method: 'GET', path: WEBHOOKS, ...read, isList: true },
  { operation: 'createWebhook', method: 'PUT', path: WEBHOOKS, ...change, status: 201 },
  { operation: 'reenableWebhooks', method: 'PATCH', path: WEBHOOKS, ...change },
  {
    operation: 'reenableDescendantWebhooks',
    method: 'PATCH',
    path: `${ACCOUNT}/descendants/webhooks`,
    ...change,
  },
  { operation: 'listAttempts', method: 'GET', path: `${WEBHOOKS}/attempts`, ...read, isList: true },
  { operation: 'readWebhook', method: 'GET', path: WEBHOOK, ...read },
  { operation: 'replaceWebhook', method: 'POST', path: WEBHOOK, ...change },
  { operation: 'patchWebhook', method: 'PATCH', path: WEBHOOK, ...change },
  { operation: 'deleteWebhook', method: 'DELETE', path: WEBHOOK, ...read },
  { operation: 'listWebhookAttempts', method: 'GET', path: `${WEBHOOK}/attempts`, ...read, isList: true },

  { operation: 'testWebhook', method: 'PUT', path: `${WEBHOOK}/test`, ...read, status: 202 },
  { operation: 'replayWebhook', method: 'PUT', path: `${WEBHOOK}/replay`, ...change, status: 202 },
  { operation: 'listDeliveries', method: 'GET', path: `${WEBHOOK}/deliveries`, ...read, isList: true },
  { operation: 'readSecret', method: 'GET', path: `${WEBHOOK}/secret`, ...read, hasSecret: true },
  {
    operation: 'rotateSecret',
    method: 'PUT',
    path: `${WEBHOOK}/secret`,
    ...read,
    status: 201,
    hasSecret: true,
  },
  { operation: 'readDelivery', method: 'GET', path: `${ACCOUNT}/deliveries/{delivery_id}`, ...read },
  {
    operation: 'listCallAttempts',
    method: 'GET',
    path: `${ACCOUNT}/calls/{call_id}/attempts`,
    ...read,
    isList: true,
  },
  {
    operation: 'publishEvents',
    method: 'PUT',
    path: `${ACCOUNT}/events`,
    requiresToken: true,
    bodyKind: 'object or list',
    status: 202,
    isIngest: true,
  },
  {
    operation: 'listUnhealthyWebhooks',
    method: 'GET',
    path: '/system/endpoints',
    ...read,
    isOperators: true,
  },
  {
    operation: 'searchDeliveries',
    method: 'GET',
    path: '/system/deliveries',
    ...read,
    isOperators: true,
  },
  { operation: 'readOpenapi', method: 'GET', path: '/openapi.json', ...open },
]
