/** The OpenAPI document of the HTTP API. */
import { serializeSuccess } from './envelope.js'
import { ENVELOPES, HEADERS, LIST_PARAMETERS, PARAMETERS, SECURITY_SCHEMES } from './openapi/components.js'
import { ERROR_RESPONSES, errorStatuses } from './openapi/errors.js'
import { ENVELOPE_FIELDS, TOKEN, VERSION_EXAMPLE } from './openapi/examples.js'
import { OPERATIONS, type OperationDoc } from './openapi/operations.js'
import { type HookDoc, RECEIVER_HEADERS, webhookPathItems } from './openapi/receiver.js'
import { ref, SCHEMAS } from './openapi/schemas.js'
import { STATS_SCHEMAS } from './openapi/stats-schemas.js'
import { type DocumentedRoute, ROUTES } from './routes.js'

type SpecObject = Readonly<Record<string, unknown>>

export interface OpenapiOptions {
  /** Version of this package. */
  readonly version: string
  /** Event types: the catalogue. */
  readonly hooks: readonly HookDoc[]
  /** Whether events can be published over HTTP. */
  readonly ingest: boolean
}

const DESCRIPTION = `Access tokens, API keys and webhooks for call-handling platforms, compatible with KAZOO's API.

* A request body is a JSON object with the payload in \`data\`; a response also has its payload in \`data\`.
* \`v1\` and \`v2\` are identical. A trailing slash is ignored.
* A POST with a top-level \`verb\` (in the body or the query) is treated as that method.
* A string that spells an integer or a boolean is converted where a field expects one.
* Unknown fields inside \`data\` are accepted; a document stores those that do not start with \`_\` or \`pvt_\`.
* HEAD is supported wherever GET is.`

const TAGS = [
  { name: 'Login', description: 'Tokens expire; API keys do not.' },
  { name: 'API key' },
  { name: 'Hooks', description: 'The event types that webhooks can subscribe to.' },
  { name: 'Webhooks' },
  { name: 'Deliveries', description: 'Deliveries of events: attempts, retries and replays.' },
  { name: 'Events' },
  { name: 'Accounts' },
  { name: 'Users' },
  { name: 'Operator', description: 'Lists over all accounts.' },
  { name: 'Service' },
  { name: 'Receivers', description: 'Requests to the URL of a webhook.' },
]

/** Builds the OpenAPI 3.1 document from the table of routes and the schemas that validate requests. */
export function openapiDocument({ version, hooks, ingest }: OpenapiOptions): SpecObject {
  const routes = ROUTES.filter((route) => ingest || !route.isIngest)
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
    paths: pathItems(routes),
    webhooks: webhookPathItems(hooks),
    components: {
      schemas: { ...ENVELOPES, ...SCHEMAS, ...STATS_SCHEMAS },
      parameters: { ...PARAMETERS, ...RECEIVER_HEADERS },
      headers: HEADERS,
      responses: ERROR_RESPONSES,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function pathItems(routes: readonly DocumentedRoute[]): SpecObject {
  const paths: Record<string, SpecObject> = {}
  for (const route of routes) {
    const operation = operationObject(route, OPERATIONS[route.operation])
    const path = paths[route.path] ?? pathParameters(route.path)
    paths[route.path] = { ...path, [route.method.toLowerCase()]: operation }
  }
  return paths
}

function pathParameters(path: string): SpecObject {
  const names = path.split('/').flatMap((part) => (part.startsWith('{') ? [part.slice(1, -1)] : []))
  return names.length === 0 ? {} : { parameters: names.map(parameterRef) }
}

const parameterRef = (name: string): SpecObject => ({ $ref: `#/components/parameters/${name}` })

function operationObject(route: DocumentedRoute, doc: OperationDoc): SpecObject {
  const names = [
    ...(doc.parameters ?? []),
    ...(route.isList ? LIST_PARAMETERS : []),
    'pretty_print',
    'request_id',
  ]
  return {
    operationId: route.operation,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description && { description: doc.description }),
    ...(!route.requiresToken && { security: [] }),
    parameters: names.map(parameterRef),
    ...(doc.body && { requestBody: requestBodyObject(doc.body) }),
    responses: {
      [route.status]:
        route.operation === 'readOpenapi'
          ? rawResponseObject(doc)
          : route.isStream
            ? streamResponseObject(doc)
            : successResponseObject(route, doc),
      ...(doc.alternative && {
        [doc.alternative.status]: {
          ...successResponseObject(route, { ...doc, ...doc.alternative }),
          description: doc.alternative.description,
        },
      }),
      ...(doc.parameters?.includes('if_none_match') && {
        '304': { description: 'The client already has the current revision.' },
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

function requestBodyObject({ schema, example }: NonNullable<OperationDoc['body']>): SpecObject {
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

function successResponseObject(route: DocumentedRoute, doc: OperationDoc): SpecObject {
  const isLogin = !route.requiresToken && route.bodyKind !== 'none'
  const fields = {
    ...ENVELOPE_FIELDS,
    ...(route.requiresToken && { version: VERSION_EXAMPLE }),
    ...((route.requiresToken || isLogin) && { authToken: TOKEN }),
  }
  const items = route.isList ? (doc.example as SpecObject[]) : undefined
  const extras = {
    ...(items && { page: { count: items.length } }),
    ...(doc.hasRevision && { revision: '1' }),
  }
  const headers = [
    'X-Request-ID',
    ...(doc.hasRevision ? ['ETag'] : []),
    ...(/^create/.test(route.operation) ? ['Location'] : []),
  ]
  return {
    description: route.isList ? 'One page of the list.' : 'Success.',
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': {
        schema: { allOf: [ref('Success'), { type: 'object', properties: { data: doc.data } }] },
        example: JSON.parse(serializeSuccess(doc.example, fields, extras)),
      },
    },
  }
}

const streamResponseObject = ({ data, example }: OperationDoc): SpecObject => ({
  description: 'Server-Sent Events. The schema is that of the JSON after `data:`.',
  headers: { 'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' } },
  content: { 'text/event-stream': { schema: data, example } },
})

const rawResponseObject = ({ data }: OperationDoc): SpecObject => ({
  description: 'The OpenAPI document, without an envelope.',
  content: { 'application/json': { schema: data } },
})
