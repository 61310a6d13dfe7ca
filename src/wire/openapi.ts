import { successBody } from './envelope.js'
import { ERROR_ANSWERS, errorStatuses } from './openapi/errors.js'
import { FRAME, TOKEN, VERSION_EXAMPLE } from './openapi/examples.js'
import { OPERATIONS, type OperationDoc } from './openapi/operations.js'
import { ENVELOPES, HEADERS, LIST_PARAMETERS, PARAMETERS, SECURITY_SCHEMES } from './openapi/parts.js'
import { type HookDoc, RECEIVER_HEADERS, receiverDocs } from './openapi/receiver.js'
import { ref, SCHEMAS } from './openapi/schemas.js'
import { ROUTES, type Route } from './route.js'

type Part = Readonly<Record<string, unknown>>

export interface OpenapiOptions {
  /** Of this package. */
  readonly version: string
  /** Kinds of events: the catalogue. */
  readonly hooks: readonly HookDoc[]
  /** Whether events may be published over HTTP. */
  readonly ingest: boolean
}

const DESCRIPTION = `Access tokens, API keys and webhooks for call-handling platforms, as KAZOO's clients know them.

* A request body is a JSON object whose payload is \`data\`; an answer carries its payload in \`data\` too.
* \`v1\` and \`v2\` are the same. A trailing slash does not matter.
* A POST whose top-level \`verb\` (in the body or the query) names another method stands for that method.
* Text that spells an integer or a boolean is taken as that where a field wants one.
* Unknown fields inside \`data\` are tolerated; a webhook keeps those that do not begin with \`_\` or \`pvt_\`.
* HEAD answers where GET does.`

const TAGS = [
  { name: 'Login', description: 'Tokens are temporary; an API key is not.' },
  { name: 'API key' },
  { name: 'Hooks', description: 'The kinds of events that webhooks can listen to.' },
  { name: 'Webhooks' },
  { name: 'Deliveries', description: 'What became of events: attempts, retries, replays.' },
  { name: 'Events' },
  { name: 'Service' },
  { name: 'Receivers', description: 'What the URL of a webhook gets.' },
]

/**
 * The OpenAPI 3.1 document of the HTTP face, made from the table of routes and from the schemas that requests are
 * judged by.
 */
export function openapiDocument({ version, hooks, ingest }: OpenapiOptions): Part {
  const routes = ROUTES.filter((route) => ingest || !route.ingest)
  const tags = new Set<string>(['Receivers', ...routes.map((route) => OPERATIONS[route.operation].tag)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'hookswitch',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/v1' }, { url: '/v2' }],
    security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
    tags: TAGS.filter(({ name }) => tags.has(name)),
    paths: pathsOf(routes),
    webhooks: receiverDocs(hooks),
    components: {
      schemas: { ...ENVELOPES, ...SCHEMAS },
      parameters: { ...PARAMETERS, ...RECEIVER_HEADERS },
      headers: HEADERS,
      responses: ERROR_ANSWERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function pathsOf(routes: readonly Route[]): Part {
  const paths: Record<string, Part> = {}
  for (const route of routes) {
    const operation = operationOf(route, OPERATIONS[route.operation])
    const path = paths[route.path] ?? pathParameters(route.path)
    paths[route.path] = { ...path, [route.method.toLowerCase()]: operation }
  }
  return paths
}

function pathParameters(path: string): Part {
  const names = path.split('/').flatMap((part) => (part.startsWith('{') ? [part.slice(1, -1)] : []))
  return names.length === 0 ? {} : { parameters: names.map(parameter) }
}

const parameter = (name: string): Part => ({ $ref: `#/components/parameters/${name}` })

function operationOf(route: Route, doc: OperationDoc): Part {
  const names = [
    ...(doc.parameters ?? []),
    ...(route.list ? LIST_PARAMETERS : []),
    'pretty_print',
    'request_id',
  ]
  return {
    operationId: route.operation,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description && { description: doc.description }),
    ...(!route.token && { security: [] }),
    parameters: names.map(parameter),
    ...(doc.body && { requestBody: requestOf(doc.body) }),
    responses: {
      [route.status]: route.operation === 'readOpenapi' ? bareAnswer(doc) : answerOf(route, doc),
      ...(doc.parameters?.includes('if_none_match') && {
        '304': { description: 'The revision is still the one that was named.' },
      }),
      ...Object.fromEntries(
        [...errorStatuses(route), 'default'].map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  }
}

function requestOf({ schema, example }: NonNullable<OperationDoc['body']>): Part {
  return {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object', required: ['data'], properties: { data: schema } },
        example: { data: example },
      },
    },
  }
}

function answerOf(route: Route, doc: OperationDoc): Part {
  const login = !route.token && route.body !== 'none'
  const frame = {
    ...FRAME,
    ...(route.token && { version: VERSION_EXAMPLE }),
    ...((route.token || login) && { authToken: TOKEN }),
  }
  const items = route.list ? (doc.example as Part[]) : undefined
  const extras = { ...(items && { page: { items } }), ...(doc.revised && { revision: '1' }) }
  const headers = [
    'X-Request-ID',
    ...(doc.revised ? ['ETag'] : []),
    ...(route.operation === 'createWebhook' ? ['Location'] : []),
  ]
  return {
    description: route.list ? 'One page.' : 'Done.',
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': {
        schema: { allOf: [ref('Success'), { type: 'object', properties: { data: doc.data } }] },
        example: JSON.parse(successBody(doc.example, frame, extras)),
      },
    },
  }
}

const bareAnswer = ({ data }: OperationDoc): Part => ({
  description: 'The OpenAPI document, without an envelope.',
  content: { 'application/json': { schema: data } },
})
