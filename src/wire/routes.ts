/**
 * The table of routes: method, path, whether a token is required, kind of body, and status of a success. Rows are in
 * the order of the documentation; `router` turns the table into a tree.
 */

import type { Access } from '../auth/authority.js'

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** Type of `data` in the request body; `none`: it is ignored; `object or nothing`: the body may also be `{}`. */
export type BodyKind = 'none' | 'object' | 'object or nothing' | 'object or list'

/** `operationId` in the OpenAPI document. */
export type OperationId =
  | 'signInByApiKey'
  | 'signInByCredentials'
  | 'readToken'
  | 'signOut'
  | 'issueToken'
  | 'readApiKey'
  | 'rotateApiKey'
  | 'listHooks'
  | 'listSamples'
  | 'readSample'
  | 'listBindings'
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
  | 'readAccountStats'
  | 'readWebhookStats'
  | 'listEndpoints'
  | 'readWebhookHealth'
  | 'testWebhook'
  | 'replayWebhook'
  | 'replayAccount'
  | 'listReplays'
  | 'readReplay'
  | 'setReplay'
  | 'replayAllAccounts'
  | 'listAllReplays'
  | 'readAnyReplay'
  | 'setAnyReplay'
  | 'resumeWebhook'
  | 'previewWebhook'
  | 'checkAddress'
  | 'matchEvent'
  | 'listDeliveries'
  | 'readDelivery'
  | 'readSecret'
  | 'rotateSecret'
  | 'listDeliveryAttempts'
  | 'readCall'
  | 'listCallAttempts'
  | 'publishEvents'
  | 'lookUp'
  | 'lookUpAnywhere'
  | 'why'
  | 'whyAnywhere'
  | 'readOverview'
  | 'readHolds'
  | 'setHold'
  | 'startJob'
  | 'listJobs'
  | 'readJob'
  | 'setJob'
  | 'streamItems'
  | 'listUnhealthyWebhooks'
  | 'searchDeliveries'
  | 'listAccounts'
  | 'createAccount'
  | 'createChildAccount'
  | 'readAccount'
  | 'replaceAccount'
  | 'patchAccount'
  | 'deleteAccount'
  | 'listChildren'
  | 'listDescendants'
  | 'listSiblings'
  | 'listTree'
  | 'listParents'
  | 'listAncestors'
  | 'moveAccount'
  | 'eraseRecords'
  | 'listUsers'
  | 'createUser'
  | 'readUser'
  | 'replaceUser'
  | 'patchUser'
  | 'deleteUser'
  | 'search'
  | 'searchAccount'
  | 'searchMany'
  | 'listApps'
  | 'readOpenapi'

export interface Route {
  /** `notImplemented`: what clients of KAZOO know and this service has not; no part of the documentation. */
  readonly operation: OperationId | 'notImplemented'
  readonly method: Method
  /** Path below the version, with parameters in braces: `/accounts/{account_id}/webhooks`. */
  readonly path: string
  readonly requiresToken: boolean
  /** What the caller must be allowed to; on the account of the path, or on its own. Default `read`. */
  readonly access?: Access
  readonly bodyKind: BodyKind
  /** Status of a success. */
  readonly status: number
  /** The operation issues a token; a token in the request is ignored. */
  readonly isLogin?: boolean
  /** The response contains a secret; it must not be cached. */
  readonly hasSecret?: boolean
  /** The response is a list: paging, ranges and filters apply. */
  readonly isList?: boolean
  /** The route exists only if the host enables it (`--ingest`). */
  readonly isIngest?: boolean
  /** The response is an event stream. Its token is in a header. */
  readonly isStream?: boolean
  /** An operator may use the route for an account that no longer exists. */
  readonly isForRemoved?: boolean
}

/** A route of the documentation. */
export type DocumentedRoute = Route & { readonly operation: OperationId }

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
const change = { requiresToken: true, bodyKind: 'object', status: 200, access: 'write' } as const
const write = { ...read, access: 'write' } as const
/** A question that needs a body. */
const ask = { ...read, bodyKind: 'object' } as const
const replay = { ...change, bodyKind: 'object or nothing', status: 202 } as const
const administer = { ...change, access: 'admin' } as const
const USERS = `${ACCOUNT}/users`
const USER = `${USERS}/{user_id}`

export const ROUTES: readonly DocumentedRoute[] = [
  { operation: 'signInByApiKey', method: 'PUT', path: '/api_auth', ...login },
  { operation: 'signInByCredentials', method: 'PUT', path: '/user_auth', ...login },
  { operation: 'readToken', method: 'GET', path: '/token_auth', ...read },
  { operation: 'signOut', method: 'DELETE', path: '/token_auth', ...read },
  {
    operation: 'readApiKey',
    method: 'GET',
    path: `${ACCOUNT}/api_key`,
    ...read,
    access: 'admin',
    hasSecret: true,
  },
  {
    operation: 'rotateApiKey',
    method: 'PUT',
    path: `${ACCOUNT}/api_key`,
    ...read,
    access: 'admin',
    status: 201,
    hasSecret: true,
  },

  { operation: 'listHooks', method: 'GET', path: '/webhooks', ...open, isList: true },
  { operation: 'listSamples', method: 'GET', path: '/webhooks/samples', ...open },
  { operation: 'readSample', method: 'GET', path: '/webhooks/samples/{sample_id}', ...open },
  { operation: 'listBindings', method: 'GET', path: '/websockets', ...open },

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
  { operation: 'readAccountStats', method: 'GET', path: `${WEBHOOKS}/stats`, ...read },
  { operation: 'listEndpoints', method: 'GET', path: `${WEBHOOKS}/health`, ...read },
  { operation: 'readWebhook', method: 'GET', path: WEBHOOK, ...read },
  { operation: 'replaceWebhook', method: 'POST', path: WEBHOOK, ...change },
  { operation: 'patchWebhook', method: 'PATCH', path: WEBHOOK, ...change },
  { operation: 'deleteWebhook', method: 'DELETE', path: WEBHOOK, ...write },
  { operation: 'listWebhookAttempts', method: 'GET', path: `${WEBHOOK}/attempts`, ...read, isList: true },
  { operation: 'readWebhookStats', method: 'GET', path: `${WEBHOOK}/stats`, ...read },
  { operation: 'readWebhookHealth', method: 'GET', path: `${WEBHOOK}/health`, ...read },

  { operation: 'testWebhook', method: 'PUT', path: `${WEBHOOK}/test`, ...write, status: 202 },
  { operation: 'replayWebhook', method: 'PUT', path: `${WEBHOOK}/replay`, ...replay },
  { operation: 'resumeWebhook', method: 'PUT', path: `${WEBHOOK}/resume`, ...write },
  { operation: 'previewWebhook', method: 'PUT', path: `${WEBHOOKS}/preview`, ...ask },
  { operation: 'checkAddress', method: 'PUT', path: `${WEBHOOKS}/check`, ...change },
  { operation: 'listDeliveries', method: 'GET', path: `${WEBHOOK}/deliveries`, ...read, isList: true },
  { operation: 'readSecret', method: 'GET', path: `${WEBHOOK}/secret`, ...write, hasSecret: true },
  {
    operation: 'rotateSecret',
    method: 'PUT',
    path: `${WEBHOOK}/secret`,
    ...write,
    status: 201,
    hasSecret: true,
  },
  { operation: 'readDelivery', method: 'GET', path: `${ACCOUNT}/deliveries/{delivery_id}`, ...read },
  {
    operation: 'listDeliveryAttempts',
    method: 'GET',
    path: `${ACCOUNT}/deliveries/{delivery_id}/attempts`,
    ...read,
    isList: true,
  },
  { operation: 'readCall', method: 'GET', path: `${ACCOUNT}/calls/{call_id}`, ...read },
  {
    operation: 'listCallAttempts',
    method: 'GET',
    path: `${ACCOUNT}/calls/{call_id}/attempts`,
    ...read,
    isList: true,
  },
  { operation: 'replayAccount', method: 'PUT', path: `${ACCOUNT}/replay`, ...replay },
  { operation: 'listReplays', method: 'GET', path: `${ACCOUNT}/replays`, ...read },
  { operation: 'readReplay', method: 'GET', path: `${ACCOUNT}/replays/{replay_id}`, ...read },
  { operation: 'setReplay', method: 'POST', path: `${ACCOUNT}/replays/{replay_id}`, ...change },
  {
    operation: 'publishEvents',
    method: 'PUT',
    path: `${ACCOUNT}/events`,
    requiresToken: true,
    access: 'write',
    bodyKind: 'object or list',
    status: 202,
    isIngest: true,
  },
  { operation: 'matchEvent', method: 'PUT', path: `${ACCOUNT}/events/match`, ...ask },
  { operation: 'lookUp', method: 'GET', path: `${ACCOUNT}/lookup`, ...read },
  { operation: 'why', method: 'PUT', path: `${ACCOUNT}/why`, ...ask },
  {
    operation: 'issueToken',
    method: 'PUT',
    path: '/system/tokens',
    ...change,
    access: 'operator',
    status: 201,
    hasSecret: true,
  },
  { operation: 'readOverview', method: 'GET', path: '/system/overview', ...read, access: 'operator' },
  { operation: 'readHolds', method: 'GET', path: '/system/holds', ...read, access: 'operator' },
  { operation: 'setHold', method: 'POST', path: '/system/holds', ...change, access: 'operator' },
  {
    operation: 'startJob',
    method: 'PUT',
    path: '/system/jobs',
    ...change,
    access: 'operator',
    status: 202,
  },
  { operation: 'listJobs', method: 'GET', path: '/system/jobs', ...read, access: 'operator' },
  { operation: 'readJob', method: 'GET', path: '/system/jobs/{job_id}', ...read, access: 'operator' },
  { operation: 'setJob', method: 'POST', path: '/system/jobs/{job_id}', ...change, access: 'operator' },
  { operation: 'streamItems', method: 'GET', path: `${ACCOUNT}/stream`, ...read, isStream: true },
  {
    operation: 'listUnhealthyWebhooks',
    method: 'GET',
    path: '/system/endpoints',
    ...read,
    access: 'operator',
  },
  {
    operation: 'searchDeliveries',
    method: 'GET',
    path: '/system/deliveries',
    ...read,
    access: 'operator',
  },
  { operation: 'lookUpAnywhere', method: 'GET', path: '/system/lookup', ...read, access: 'operator' },
  { operation: 'whyAnywhere', method: 'PUT', path: '/system/why', ...ask, access: 'operator' },
  {
    operation: 'replayAllAccounts',
    method: 'PUT',
    path: '/system/replay',
    ...replay,
    access: 'operator',
  },
  { operation: 'listAllReplays', method: 'GET', path: '/system/replays', ...read, access: 'operator' },
  {
    operation: 'readAnyReplay',
    method: 'GET',
    path: '/system/replays/{replay_id}',
    ...read,
    access: 'operator',
  },
  {
    operation: 'setAnyReplay',
    method: 'POST',
    path: '/system/replays/{replay_id}',
    ...change,
    access: 'operator',
  },

  {
    operation: 'listAccounts',
    method: 'GET',
    path: '/accounts',
    ...read,
    access: 'operator',
    isList: true,
  },
  { operation: 'createAccount', method: 'PUT', path: '/accounts', ...administer, status: 201 },
  { operation: 'createChildAccount', method: 'PUT', path: ACCOUNT, ...administer, status: 201 },
  { operation: 'readAccount', method: 'GET', path: ACCOUNT, ...read },
  { operation: 'replaceAccount', method: 'POST', path: ACCOUNT, ...administer },
  { operation: 'patchAccount', method: 'PATCH', path: ACCOUNT, ...administer },
  { operation: 'deleteAccount', method: 'DELETE', path: ACCOUNT, ...read, access: 'ancestor' },
  { operation: 'listChildren', method: 'GET', path: `${ACCOUNT}/children`, ...read, isList: true },
  { operation: 'listDescendants', method: 'GET', path: `${ACCOUNT}/descendants`, ...read, isList: true },
  { operation: 'listSiblings', method: 'GET', path: `${ACCOUNT}/siblings`, ...read, isList: true },
  { operation: 'listTree', method: 'GET', path: `${ACCOUNT}/tree`, ...read },
  { operation: 'listParents', method: 'GET', path: `${ACCOUNT}/parents`, ...read },
  { operation: 'listAncestors', method: 'GET', path: `${ACCOUNT}/ancestors`, ...read },
  { operation: 'moveAccount', method: 'POST', path: `${ACCOUNT}/move`, ...change, access: 'operator' },
  {
    operation: 'eraseRecords',
    method: 'PUT',
    path: `${ACCOUNT}/erase`,
    ...administer,
    isForRemoved: true,
  },
  { operation: 'listApps', method: 'GET', path: `${ACCOUNT}/apps_store`, ...read },

  { operation: 'listUsers', method: 'GET', path: USERS, ...read, isList: true },
  { operation: 'createUser', method: 'PUT', path: USERS, ...administer, status: 201 },
  { operation: 'readUser', method: 'GET', path: USER, ...read },
  { operation: 'replaceUser', method: 'POST', path: USER, ...change, access: 'self' },
  { operation: 'patchUser', method: 'PATCH', path: USER, ...change, access: 'self' },
  { operation: 'deleteUser', method: 'DELETE', path: USER, ...read, access: 'admin' },

  { operation: 'search', method: 'GET', path: '/search', ...write, isList: true },
  { operation: 'searchMany', method: 'GET', path: '/search/multi', ...write },
  { operation: 'searchAccount', method: 'GET', path: `${ACCOUNT}/search`, ...write, isList: true },

  { operation: 'readOpenapi', method: 'GET', path: '/openapi.json', ...open },
]

const notImplemented = (method: Method, path: string, isPublic = false): Route => ({
  operation: 'notImplemented',
  method,
  path,
  requiresToken: !isPublic,
  bodyKind: 'none',
  status: 501,
})

/** Parts of a user that KAZOO has and a service of webhooks has not. */
const PARTS_OF_USERS = ['photo', 'vcard', 'quickcall', 'hotdesks', 'devices', 'channels', 'presence']

/** Routes that real clients use, and that respond with 501. */
export const NOT_IMPLEMENTED: readonly Route[] = [
  ...(['PUT', 'DELETE'] as const).map((method) => notImplemented(method, `${ACCOUNT}/reseller`)),
  ...(['PUT', 'POST'] as const).map((method) => notImplemented(method, '/user_auth/recovery', true)),
  notImplemented('PUT', `${USER}/user_auth`),
  ...PARTS_OF_USERS.flatMap((part) =>
    (['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const).map((method) =>
      notImplemented(method, `${USER}/${part}`),
    ),
  ),
]
