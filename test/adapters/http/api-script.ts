/** A visit to the whole interface, step by step: what an answer gives (`{token}`, `{webhook}`) later steps use. */
import { MAX_BODY_BYTES } from 'hookswitch'
import { requestBytes, type TableRequest } from './requests.js'

export interface Step extends TableRequest {
  /** The status that every adapter must answer with. */
  readonly status: number
  /** Sent as `X-Auth-Token`. */
  readonly token?: string
  /** Values of the answer to remember: name → path in its JSON. */
  readonly keep?: Readonly<Record<string, string>>
}

export const API_KEY = 'k'.repeat(40)
export const ACCOUNTS = [
  { id: 'parent', name: 'Parent Telecom', realm: 'parent.example.com', apiKey: API_KEY },
  { id: 'child', name: 'Child', realm: 'child.example.com', parentId: 'parent' },
  { id: 'other', name: 'Other', realm: 'other.example.com' },
] as const

const HOOKS = '/v2/accounts/parent/webhooks'
const JSON_TYPE = ['content-type', 'application/json'] as const
const WEBHOOK = { name: 'calls', uri: 'https://hooks.example.com/calls', hook: 'channel_create' }

const data = (value: unknown) => JSON.stringify({ data: value })

type More = Partial<Step>
const step = (status: number, name: string, method: string, target: string, more: More = {}): Step => ({
  status,
  name,
  method,
  target,
  token: '{token}',
  ...more,
})
const anonymous = (status: number, name: string, method: string, target: string, more: More = {}): Step => {
  const { token: _, ...rest } = step(status, name, method, target, more)
  return rest
}
/** A body of JSON. */
const json = (body: string | Uint8Array, more: More = {}): More => ({ headers: [JSON_TYPE], body, ...more })
const header = (...pair: [string, string]): More => ({ headers: [pair] })

const PUBLIC: readonly Step[] = [
  anonymous(200, 'the catalogue', 'GET', '/v2/webhooks'),
  anonymous(200, 'the catalogue under v1', 'GET', '/v1/webhooks/'),
  anonymous(200, 'the catalogue, only its head', 'HEAD', '/v2/webhooks'),
  anonymous(200, 'the catalogue, indented', 'GET', '/v2/webhooks?pretty_print=true&_=1'),
  anonymous(200, 'a sample', 'GET', '/v2/webhooks/samples/webhooks_channel_create'),
  anonymous(404, 'a sample that is none', 'GET', '/v2/webhooks/samples/nothing'),
  anonymous(200, 'the description of the interface', 'GET', '/v2/openapi.json'),
  anonymous(406, 'an Accept without JSON', 'GET', '/v2/webhooks', header('accept', 'text/html')),
  anonymous(200, 'a request id of the client', 'GET', '/v2/webhooks', header('x-request-id', 'mine-1')),
  anonymous(404, 'an unknown path', 'GET', '/v2/nowhere'),
  anonymous(404, 'the bare version', 'GET', '/v2'),
  anonymous(405, 'a wrong method', 'POST', '/v2/webhooks', json(data({}))),
  anonymous(405, 'a method that nobody uses', 'PROPFIND', '/v2/webhooks'),
  anonymous(204, 'a preflight', 'OPTIONS', HOOKS, {
    headers: [
      ['origin', 'https://ui.example.com'],
      ['access-control-request-method', 'PUT'],
    ],
  }),
  anonymous(
    200,
    'a call from another origin',
    'GET',
    '/v2/webhooks',
    header('origin', 'https://ui.example.com'),
  ),
]

const LOGIN: readonly Step[] = [
  anonymous(401, 'a wrong key', 'PUT', '/v2/api_auth', json(data({ api_key: 'x'.repeat(64) }))),
  anonymous(400, 'a login without a key', 'PUT', '/v2/api_auth', json(data({}))),
  anonymous(400, 'a login without data', 'PUT', '/v2/api_auth', json('{"api_key":"x"}')),
  anonymous(400, 'a login that is no JSON', 'PUT', '/v2/api_auth', json('{"data":')),
  anonymous(413, 'a login that is too large', 'PUT', '/v2/api_auth', json('x'.repeat(MAX_BODY_BYTES + 1))),
  anonymous(
    413,
    'one too large in chunks',
    'PUT',
    '/v2/api_auth',
    json('x'.repeat(1_200_000), { chunkBytes: 50_000 }),
  ),
  anonymous(201, 'a login with a key', 'PUT', '/v2/api_auth', {
    ...json(data({ api_key: API_KEY })),
    keep: { token: 'auth_token' },
  }),
  anonymous(201, 'a login as plain curl sends it', 'PUT', '/v2/api_auth', {
    headers: [['content-type', 'application/x-www-form-urlencoded']],
    body: data({ api_key: API_KEY }),
  }),
  anonymous(201, 'a login with an empty token', 'PUT', '/v2/api_auth', {
    headers: [JSON_TYPE, ['x-auth-token', '']],
    body: data({ api_key: API_KEY }),
  }),
]

const TOKENS: readonly Step[] = [
  step(200, 'a list', 'GET', HOOKS),
  anonymous(401, 'a list without a token', 'GET', HOOKS),
  step(401, 'a list with a bad token', 'GET', HOOKS, { token: 'undefined' }),
  anonymous(200, 'a token in the query', 'GET', `${HOOKS}?auth_token={token}`),
  anonymous(200, 'a bearer token', 'GET', HOOKS, header('authorization', 'Bearer {token}')),
  anonymous(200, 'the same token twice', 'GET', HOOKS, {
    headers: [
      ['x-auth-token', '{token}'],
      ['X-Auth-Token', '{token}'],
    ],
  }),
  step(400, 'two different tokens', 'GET', HOOKS, header('x-auth-token', 'another')),
  step(200, 'a list of a child', 'GET', '/v2/accounts/child/webhooks'),
  step(403, 'a list of a stranger', 'GET', '/v2/accounts/other/webhooks'),
  step(403, 'a list of nobody', 'GET', '/v2/accounts/nobody/webhooks'),
]

const DOCUMENTS: readonly Step[] = [
  step(
    201,
    'a new webhook',
    'PUT',
    HOOKS,
    json(data(WEBHOOK), { keep: { webhook: 'data.id', revision: 'revision' } }),
  ),
  step(201, 'one through a tunnel', 'POST', HOOKS, json(JSON.stringify({ data: WEBHOOK, verb: 'put' }))),
  step(201, 'one in chunks', 'PUT', HOOKS, json(data(WEBHOOK), { chunkBytes: 7 })),
  step(201, 'one with text of the world', 'PUT', HOOKS, json(data({ ...WEBHOOK, name: 'Grüße 電話 😀' }))),
  step(201, 'one of an unusual JSON type', 'PUT', HOOKS, {
    headers: [['content-type', 'application/x-json']],
    body: data(WEBHOOK),
  }),
  step(
    400,
    'one with every field wrong',
    'PUT',
    HOOKS,
    json(data({ name: '', uri: 'ftp://x', hook: 'no', retries: 99 })),
  ),
  step(400, 'one that is a list', 'PUT', HOOKS, json(data([WEBHOOK]))),
  step(400, 'one without an envelope', 'PUT', HOOKS, json('[1]')),
  step(400, 'one that ends too soon', 'PUT', HOOKS, json('{"data":{"name"')),
  step(400, 'one that nests too deep', 'PUT', HOOKS, json(`{"data":${'['.repeat(40)}${']'.repeat(40)}}`)),
  step(400, 'one that is no UTF-8', 'PUT', HOOKS, json(Buffer.from([0x7b, 0xff, 0x7d]))),
  step(415, 'one of another media type', 'PUT', HOOKS, {
    headers: [['content-type', 'text/xml']],
    body: '<a/>',
  }),
  step(415, 'one whose media type is none', 'PUT', HOOKS, {
    headers: [['content-type', 'json']],
    body: data(WEBHOOK),
  }),
  step(200, 'the webhook', 'GET', `${HOOKS}/{webhook}`),
  step(200, 'the webhook, only its head', 'HEAD', `${HOOKS}/{webhook}`),
  step(
    304,
    'the webhook, known already',
    'GET',
    `${HOOKS}/{webhook}`,
    header('if-none-match', '"{revision}"'),
  ),
  step(412, 'a change of another revision', 'PATCH', `${HOOKS}/{webhook}`, {
    headers: [JSON_TYPE, ['if-match', '"nothing"']],
    body: data({ name: 'x' }),
  }),
  step(200, 'a change', 'PATCH', `${HOOKS}/{webhook}`, json(data({ name: 'renamed', group: null }))),
  step(200, 'a replacement', 'POST', `${HOOKS}/{webhook}`, json(data(WEBHOOK))),
  step(404, 'an unknown webhook', 'GET', `${HOOKS}/unknown`),
  step(404, 'the webhook through another account', 'GET', '/v2/accounts/child/webhooks/{webhook}'),
  step(200, 'a filtered page', 'GET', `${HOOKS}?page_size=1&filter_name=calls`),
  step(400, 'a page size that is none', 'GET', `${HOOKS}?page_size=1e2`),
  step(200, 'all that were disabled', 'PATCH', HOOKS, json(data({ 're-enable': true }))),
  step(200, 'its attempts', 'GET', `${HOOKS}/{webhook}/attempts`),
  step(200, 'its secret', 'GET', `${HOOKS}/{webhook}/secret`),
  step(404, 'the attempts of an unknown call', 'GET', '/v2/accounts/parent/calls/a%2Fb%20c/attempts'),
  step(
    200,
    'the webhook removed, with a body',
    'DELETE',
    `${HOOKS}/{webhook}`,
    json(data({ ui_metadata: {} })),
  ),
  step(404, 'the webhook removed again', 'DELETE', `${HOOKS}/{webhook}`),
]

const PATHS: readonly Step[] = [
  step(404, 'a double slash', 'GET', '/v2//accounts/parent/webhooks'),
  step(404, 'a dot segment', 'GET', '/v2/./accounts/parent/webhooks'),
  step(404, 'encoded dots', 'GET', '/v2/accounts/other/%2e%2e/parent/webhooks'),
  step(404, 'a lone percent sign', 'GET', '/v2/accounts/parent%/webhooks'),
  step(403, 'an encoded slash in an account', 'GET', '/v2/accounts/parent%2F/webhooks'),
  step(200, 'an encoded letter', 'GET', '/v2/accounts/%70arent/webhooks'),
  step(200, 'an absolute target', 'GET', `http://elsewhere.example${HOOKS}`),
]

const GOODBYE: readonly Step[] = [
  step(200, 'the key', 'GET', '/v2/accounts/parent/api_key'),
  step(201, 'a new key', 'PUT', '/v2/accounts/child/api_key'),
  step(200, 'a sign-out', 'DELETE', '/v2/token_auth'),
  step(401, 'a list after it', 'GET', HOOKS),
]

export const SCRIPT: readonly Step[] = [...PUBLIC, ...LOGIN, ...TOKENS, ...DOCUMENTS, ...PATHS, ...GOODBYE]

/** The bytes of a step, with what was kept of earlier answers put in. */
export function stepBytes(step: Step, kept: ReadonlyMap<string, string>, prefix: string): Uint8Array {
  const fill = (text: string) =>
    text.replace(/\{(token|webhook|revision)\}/g, (whole, name) => kept.get(name) ?? whole)
  const headers: [string, string][] = (step.headers ?? []).map(([name, value]) => [name, fill(value)])
  // an id that the service made up would use chance, which a step that never reaches it does not
  if (!PUBLIC.includes(step)) headers.push(['x-request-id', `step-${SCRIPT.indexOf(step)}`])
  if (step.token !== undefined) headers.push(['x-auth-token', fill(step.token)])
  return requestBytes({ ...step, target: fill(step.target), headers }, prefix)
}
