/** A script of requests to every route. Later steps use values of earlier responses: `{token}`, `{webhook}`. */
import { MAX_BODY_BYTES } from 'hookswitch/adapter'
import { requestBytes, type TableRequest } from './requests.js'

export interface Step extends TableRequest {
  /** Expected status. */
  readonly status: number
  /** Sent as `X-Auth-Token`. */
  readonly token?: string
  /** Values of the response to save: name → path in its JSON. */
  readonly save?: Readonly<Record<string, string>>
}

export const API_KEY = 'k'.repeat(40)
export const ACCOUNTS = [
  { id: 'parent', name: 'Parent Telecom', realm: 'parent.example.com', apiKey: API_KEY },
  { id: 'child', name: 'Child', realm: 'child.example.com', parentId: 'parent' },
  { id: 'other', name: 'Other', realm: 'other.example.com' },
] as const

const WEBHOOKS = '/v2/accounts/parent/webhooks'
const JSON_TYPE = ['content-type', 'application/json'] as const
const WEBHOOK = { name: 'calls', uri: 'https://hooks.example.com/calls', hook: 'channel_create' }

const data = (value: unknown) => JSON.stringify({ data: value })

type StepOptions = Partial<Step>
const step = (
  status: number,
  name: string,
  method: string,
  target: string,
  options: StepOptions = {},
): Step => ({
  status,
  name,
  method,
  target,
  token: '{token}',
  ...options,
})
const anonymous = (
  status: number,
  name: string,
  method: string,
  target: string,
  options: StepOptions = {},
): Step => {
  const { token: _, ...rest } = step(status, name, method, target, options)
  return rest
}
/** Step options with a JSON body. */
const json = (body: string | Uint8Array, options: StepOptions = {}): StepOptions => ({
  headers: [JSON_TYPE],
  body,
  ...options,
})
const header = (...pair: [string, string]): StepOptions => ({ headers: [pair] })

const PUBLIC_ROUTES: readonly Step[] = [
  anonymous(200, 'the catalogue', 'GET', '/v2/webhooks'),
  anonymous(200, 'the catalogue under v1', 'GET', '/v1/webhooks/'),
  anonymous(200, 'HEAD of the catalogue', 'HEAD', '/v2/webhooks'),
  anonymous(200, 'the catalogue, indented', 'GET', '/v2/webhooks?pretty_print=true&_=1'),
  anonymous(200, 'a sample', 'GET', '/v2/webhooks/samples/webhooks_channel_create'),
  anonymous(200, 'bindings of WebSockets', 'GET', '/v2/websockets'),
  anonymous(404, 'an unknown sample', 'GET', '/v2/webhooks/samples/nothing'),
  anonymous(200, 'the OpenAPI document', 'GET', '/v2/openapi.json'),
  anonymous(406, 'an Accept without JSON', 'GET', '/v2/webhooks', header('accept', 'text/html')),
  anonymous(200, 'a client request id', 'GET', '/v2/webhooks', header('x-request-id', 'mine-1')),
  anonymous(404, 'an unknown path', 'GET', '/v2/nowhere'),
  anonymous(404, 'the bare version', 'GET', '/v2'),
  anonymous(405, 'a wrong method', 'POST', '/v2/webhooks', json(data({}))),
  anonymous(405, 'an unusual method', 'PROPFIND', '/v2/webhooks'),
  anonymous(204, 'a preflight', 'OPTIONS', WEBHOOKS, {
    headers: [
      ['origin', 'https://ui.example.com'],
      ['access-control-request-method', 'PUT'],
    ],
  }),
  anonymous(200, 'a cross-origin request', 'GET', '/v2/webhooks', header('origin', 'https://ui.example.com')),
]

const LOGIN: readonly Step[] = [
  anonymous(401, 'a wrong key', 'PUT', '/v2/api_auth', json(data({ api_key: 'x'.repeat(64) }))),
  anonymous(400, 'a login without a key', 'PUT', '/v2/api_auth', json(data({}))),
  anonymous(400, 'a login without data', 'PUT', '/v2/api_auth', json('{"api_key":"x"}')),
  anonymous(400, 'a login with invalid JSON', 'PUT', '/v2/api_auth', json('{"data":')),
  anonymous(413, 'a too large login', 'PUT', '/v2/api_auth', json('x'.repeat(MAX_BODY_BYTES + 1))),
  anonymous(
    413,
    'a too large chunked login',
    'PUT',
    '/v2/api_auth',
    json('x'.repeat(1_200_000), { chunkBytes: 50_000 }),
  ),
  anonymous(201, 'a login with a key', 'PUT', '/v2/api_auth', {
    ...json(data({ api_key: API_KEY })),
    save: { token: 'auth_token' },
  }),
  anonymous(201, 'a login with the content type of plain curl', 'PUT', '/v2/api_auth', {
    headers: [['content-type', 'application/x-www-form-urlencoded']],
    body: data({ api_key: API_KEY }),
  }),
  anonymous(201, 'a login with an empty token', 'PUT', '/v2/api_auth', {
    headers: [JSON_TYPE, ['x-auth-token', '']],
    body: data({ api_key: API_KEY }),
  }),
]

const TOKENS: readonly Step[] = [
  step(200, 'a list', 'GET', WEBHOOKS),
  anonymous(401, 'a list without a token', 'GET', WEBHOOKS),
  step(401, 'a list with a bad token', 'GET', WEBHOOKS, { token: 'undefined' }),
  anonymous(200, 'a token in the query', 'GET', `${WEBHOOKS}?auth_token={token}`),
  anonymous(200, 'a bearer token', 'GET', WEBHOOKS, header('authorization', 'Bearer {token}')),
  anonymous(200, 'the same token twice', 'GET', WEBHOOKS, {
    headers: [
      ['x-auth-token', '{token}'],
      ['X-Auth-Token', '{token}'],
    ],
  }),
  step(400, 'two different tokens', 'GET', WEBHOOKS, header('x-auth-token', 'another')),
  step(200, 'a list of a child account', 'GET', '/v2/accounts/child/webhooks'),
  step(403, 'a list of an inaccessible account', 'GET', '/v2/accounts/other/webhooks'),
  step(403, 'a list of an unknown account', 'GET', '/v2/accounts/nobody/webhooks'),
]

const DOCUMENTS: readonly Step[] = [
  step(
    201,
    'a new webhook',
    'PUT',
    WEBHOOKS,
    json(data(WEBHOOK), { save: { webhook: 'data.id', revision: 'revision' } }),
  ),
  step(
    201,
    'a new webhook by POST and verb',
    'POST',
    WEBHOOKS,
    json(JSON.stringify({ data: WEBHOOK, verb: 'put' })),
  ),
  step(201, 'a new webhook with a chunked body', 'PUT', WEBHOOKS, json(data(WEBHOOK), { chunkBytes: 7 })),
  step(
    201,
    'a new webhook with non-ASCII text',
    'PUT',
    WEBHOOKS,
    json(data({ ...WEBHOOK, name: 'Grüße 電話 😀' })),
  ),
  step(201, 'a new webhook with the type x-json', 'PUT', WEBHOOKS, {
    headers: [['content-type', 'application/x-json']],
    body: data(WEBHOOK),
  }),
  step(
    400,
    'a new webhook with every field invalid',
    'PUT',
    WEBHOOKS,
    json(data({ name: '', uri: 'ftp://x', hook: 'no', retries: 99 })),
  ),
  step(400, 'a list instead of a new webhook', 'PUT', WEBHOOKS, json(data([WEBHOOK]))),
  step(400, 'a new webhook without an envelope', 'PUT', WEBHOOKS, json('[1]')),
  step(400, 'a truncated new webhook', 'PUT', WEBHOOKS, json('{"data":{"name"')),
  step(
    400,
    'a too deeply nested new webhook',
    'PUT',
    WEBHOOKS,
    json(`{"data":${'['.repeat(40)}${']'.repeat(40)}}`),
  ),
  step(400, 'a new webhook with invalid UTF-8', 'PUT', WEBHOOKS, json(Buffer.from([0x7b, 0xff, 0x7d]))),
  step(415, 'a new webhook with another content type', 'PUT', WEBHOOKS, {
    headers: [['content-type', 'text/xml']],
    body: '<a/>',
  }),
  step(415, 'a new webhook with an invalid content type', 'PUT', WEBHOOKS, {
    headers: [['content-type', 'json']],
    body: data(WEBHOOK),
  }),
  step(200, 'the webhook', 'GET', `${WEBHOOKS}/{webhook}`),
  step(200, 'HEAD of the webhook', 'HEAD', `${WEBHOOKS}/{webhook}`),
  step(
    304,
    'the webhook with a matching If-None-Match',
    'GET',
    `${WEBHOOKS}/{webhook}`,
    header('if-none-match', '"{revision}"'),
  ),
  step(412, 'a patch of another revision', 'PATCH', `${WEBHOOKS}/{webhook}`, {
    headers: [JSON_TYPE, ['if-match', '"nothing"']],
    body: data({ name: 'x' }),
  }),
  step(200, 'a patch', 'PATCH', `${WEBHOOKS}/{webhook}`, json(data({ name: 'renamed', group: null }))),
  step(200, 'a replacement', 'POST', `${WEBHOOKS}/{webhook}`, json(data(WEBHOOK))),
  step(404, 'an unknown webhook', 'GET', `${WEBHOOKS}/unknown`),
  step(404, 'the webhook through another account', 'GET', '/v2/accounts/child/webhooks/{webhook}'),
  step(200, 'a filtered page', 'GET', `${WEBHOOKS}?page_size=1&filter_name=calls`),
  step(400, 'an invalid page size', 'GET', `${WEBHOOKS}?page_size=1e2`),
  step(200, 're-enabling', 'PATCH', WEBHOOKS, json(data({ 're-enable': true }))),
  step(200, 'the attempts of the webhook', 'GET', `${WEBHOOKS}/{webhook}/attempts`),
  step(200, 'the secret of the webhook', 'GET', `${WEBHOOKS}/{webhook}/secret`),
  step(404, 'the attempts of an unknown call', 'GET', '/v2/accounts/parent/calls/a%2Fb%20c/attempts'),
  step(200, 'a deletion with a body', 'DELETE', `${WEBHOOKS}/{webhook}`, json(data({ ui_metadata: {} }))),
  step(404, 'a repeated deletion', 'DELETE', `${WEBHOOKS}/{webhook}`),
]

const PATHS: readonly Step[] = [
  step(404, 'a double slash', 'GET', '/v2//accounts/parent/webhooks'),
  step(404, 'a dot segment', 'GET', '/v2/./accounts/parent/webhooks'),
  step(404, 'encoded dots', 'GET', '/v2/accounts/other/%2e%2e/parent/webhooks'),
  step(404, 'a lone percent sign', 'GET', '/v2/accounts/parent%/webhooks'),
  step(403, 'an encoded slash in an account', 'GET', '/v2/accounts/parent%2F/webhooks'),
  step(200, 'an encoded letter', 'GET', '/v2/accounts/%70arent/webhooks'),
  step(200, 'an absolute target', 'GET', `http://elsewhere.example${WEBHOOKS}`),
]

const SIGN_OUT: readonly Step[] = [
  step(200, 'the API key', 'GET', '/v2/accounts/parent/api_key'),
  step(201, 'a new API key', 'PUT', '/v2/accounts/child/api_key'),
  step(200, 'a sign-out', 'DELETE', '/v2/token_auth'),
  step(401, 'a list after the sign-out', 'GET', WEBHOOKS),
]

export const SCRIPT: readonly Step[] = [
  ...PUBLIC_ROUTES,
  ...LOGIN,
  ...TOKENS,
  ...DOCUMENTS,
  ...PATHS,
  ...SIGN_OUT,
]

/** Returns the bytes of a step, with saved values filled in. */
export function stepBytes(step: Step, saved: ReadonlyMap<string, string>, prefix: string): Uint8Array {
  const fill = (text: string) =>
    text.replace(/\{(token|webhook|revision)\}/g, (whole, name) => saved.get(name) ?? whole)
  const headers: [string, string][] = (step.headers ?? []).map(([name, value]) => [name, fill(value)])
  // Without this header, the service would generate an id and so advance its random numbers, but only if the request reaches it.
  if (!PUBLIC_ROUTES.includes(step)) headers.push(['x-request-id', `step-${SCRIPT.indexOf(step)}`])
  if (step.token !== undefined) headers.push(['x-auth-token', fill(step.token)])
  return requestBytes({ ...step, target: fill(step.target), headers }, prefix)
}
