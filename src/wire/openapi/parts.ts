import type { JsonSchema } from '../../values/json-schema.js'
import { integer, object, text } from './schemas.js'

type Part = Readonly<Record<string, unknown>>

const inPath = (name: string, description: string): Part => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})
const inQuery = (name: string, description: string, schema: JsonSchema): Part => ({
  name,
  in: 'query',
  description,
  schema,
})
const inHeader = (name: string, description: string): Part => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

const ID: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }

/** Parameters by the name under which operations refer to them; those of paths by the name in braces. */
export const PARAMETERS: Readonly<Record<string, Part>> = {
  account_id: { ...inPath('account_id', "The token's account, or one below it."), schema: ID },
  webhook_id: { ...inPath('webhook_id', 'Id of a webhook.'), schema: ID },
  delivery_id: { ...inPath('delivery_id', 'Id of a delivery.'), schema: ID },
  call_id: inPath('call_id', 'Id of a call leg, percent-encoded as one segment.'),
  sample_id: inPath('sample_id', 'A name from the list of samples, or the id of a hook.'),

  page_size: inQuery('page_size', 'Most items of a page.', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 50,
  }),
  start_key: inQuery('start_key', '`next_start_key` of the page before.', { type: 'string' }),
  paginate: inQuery('paginate', 'false: everything in one page.', { type: 'boolean', default: true }),
  created_from: inQuery('created_from', 'Not older than this, Gregorian seconds.', { type: 'integer' }),
  created_to: inQuery('created_to', 'Not newer than this, Gregorian seconds.', { type: 'integer' }),
  ascending: inQuery('ascending', 'true: the order turned round.', { type: 'boolean', default: false }),
  has_key: inQuery('has_key', 'Only items that have this field; dotted names reach deeper.', {
    type: 'string',
  }),
  key_missing: inQuery('key_missing', 'Only items without this field.', { type: 'string' }),
  filters: {
    name: 'filters',
    in: 'query',
    style: 'form',
    explode: true,
    description:
      '`filter_<field>=value` keeps items whose field has this value, `filter_not_<field>=value` those that have ' +
      'another. All conditions must hold; dotted names reach deeper.',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    example: { filter_result: 'failure' },
  },
  filter_state: inQuery('filter_state', 'Only deliveries in this state.', { type: 'string' }),
  pretty_print: inQuery('pretty_print', 'true: an indented answer.', { type: 'boolean' }),

  if_match: inHeader('If-Match', 'Change only this revision (an `ETag`); else 412.'),
  if_none_match: inHeader('If-None-Match', '304 without a body when the revision is still this one.'),
  request_id: inHeader('X-Request-ID', 'At most 128 printable ASCII characters; comes back as `request_id`.'),
}

export const LIST_PARAMETERS = [
  'page_size',
  'start_key',
  'paginate',
  'created_from',
  'created_to',
  'ascending',
  'has_key',
  'key_missing',
  'filters',
]

export const HEADERS: Readonly<Record<string, Part>> = {
  'X-Request-ID': { description: 'Id of the request.', schema: { type: 'string' } },
  ETag: { description: 'Revision of the document.', schema: { type: 'string' } },
  Location: { description: 'Where the new webhook is.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
}

/** What every answer carries beside `data`. */
const common: Readonly<Record<string, JsonSchema>> = {
  auth_token: text('The token that was used; on logins the new one.'),
  request_id: text('Id of the request.'),
  timestamp: { type: 'string', format: 'date-time', description: 'When it was answered, UTC.' },
  version: text('Version of the service; only for authenticated callers.'),
  node: text('Opaque id of the process that answered.'),
}

export const ENVELOPES: Readonly<Record<string, JsonSchema>> = {
  Success: object(
    {
      data: {},
      status: { type: 'string', const: 'success' },
      ...common,
      revision: text('Changes whenever the document changes.'),
      page_size: integer('Items in this page.'),
      start_key: text('Where this page starts.'),
      next_start_key: text('Where the next page starts; absent on the last one.'),
    },
    ['data', 'status', 'request_id', 'timestamp', 'node'],
  ),
  Error: object(
    {
      data: { type: 'object', description: 'What is wrong; for `validation error` by field and rule.' },
      error: text('The HTTP status as text.'),
      message: text('Name of the error.'),
      status: { type: 'string', const: 'error' },
      ...common,
    },
    ['data', 'error', 'message', 'status', 'request_id', 'timestamp', 'node'],
  ),
}

/** Any one of these lets a request in; the token itself comes from a login. */
export const SECURITY_SCHEMES: Readonly<Record<string, Part>> = {
  token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'Token of a login.' },
  tokenInQuery: { type: 'apiKey', in: 'query', name: 'auth_token', description: 'The same in the query.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same as a bearer token.' },
}
