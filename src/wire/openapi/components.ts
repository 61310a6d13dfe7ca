/** Parameters, headers, envelopes and security schemes of the OpenAPI document. */
import type { JsonSchema } from '../../values/json-schema.js'
import { integer, object, text } from './schemas.js'

type SpecObject = Readonly<Record<string, unknown>>

const pathParameter = (name: string, description: string): SpecObject => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})
const queryParameter = (name: string, description: string, schema: JsonSchema): SpecObject => ({
  name,
  in: 'query',
  description,
  schema,
})
const headerParameter = (name: string, description: string): SpecObject => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

const ID: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }

/** Parameters by component name; path parameters have the name in braces. */
export const PARAMETERS: Readonly<Record<string, SpecObject>> = {
  account_id: {
    ...pathParameter('account_id', "Id of the token's account or of one of its descendants."),
    schema: ID,
  },
  user_id: { ...pathParameter('user_id', 'Id of a user.'), schema: ID },
  webhook_id: { ...pathParameter('webhook_id', 'Id of a webhook.'), schema: ID },
  delivery_id: { ...pathParameter('delivery_id', 'Id of a delivery.'), schema: ID },
  replay_id: { ...pathParameter('replay_id', 'Id of a replay.'), schema: ID },
  job_id: { ...pathParameter('job_id', 'Id of a job.'), schema: ID },
  call_id: pathParameter('call_id', 'Id of a call leg, percent-encoded as one path segment.'),
  sample_id: pathParameter('sample_id', 'Name from the list of samples, or id of a hook.'),

  page_size: queryParameter('page_size', 'Maximum number of items per page; a page ends at 1 MiB of JSON.', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 50,
  }),
  start_key: queryParameter('start_key', '`next_start_key` of the previous page.', { type: 'string' }),
  paginate: queryParameter('paginate', 'false: up to 10,000 items in one page.', {
    type: 'boolean',
    default: true,
  }),
  created_from: queryParameter(
    'created_from',
    'Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`).',
    { type: ['integer', 'string'] },
  ),
  created_to: queryParameter(
    'created_to',
    'Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end.',
    { type: ['integer', 'string'] },
  ),
  ascending: queryParameter('ascending', 'Order of the list; accounts and users are ascending by default.', {
    type: 'boolean',
  }),
  has_key: queryParameter(
    'has_key',
    'Only items that have this field; a dotted name selects a nested field.',
    {
      type: 'string',
    },
  ),
  key_missing: queryParameter('key_missing', 'Only items without this field.', { type: 'string' }),
  filters: {
    name: 'filters',
    in: 'query',
    style: 'form',
    explode: true,
    description:
      '`filter_<field>=value` selects items whose field has this value, `filter_not_<field>=value` items whose field ' +
      'has another value. All conditions must hold; a dotted name selects a nested field.',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    example: { filter_result: 'failure' },
  },
  slim: queryParameter('slim', 'true: without `req_*`, `resp_headers` and `resp_body`.', {
    type: 'boolean',
    default: false,
  }),
  include: queryParameter(
    'include',
    '`bodies`: with whole `req_body` and `resp_body`; otherwise at most 1 KiB of each.',
    { type: 'string', enum: ['bodies'] },
  ),
  filter_state: queryParameter('filter_state', 'Only deliveries in this state.', { type: 'string' }),
  step: queryParameter('step', 'Length of a slot, in seconds.', {
    type: 'integer',
    enum: [60, 3600],
    default: 3600,
  }),
  endpoint_state: queryParameter(
    'state',
    'Only webhooks in this state. `idle`: `ok`, and without an attempt in the last 24 hours.',
    { type: 'string', enum: ['ok', 'failing', 'paused', 'disabled', 'idle'] },
  ),
  endpoint_search: queryParameter(
    'q',
    'Only webhooks whose name, URL, group or id contains this text, in any case.',
    { type: 'string' },
  ),
  unhealthy_state: queryParameter(
    'state',
    'Only webhooks in this state: `failing`, `paused` or `disabled`.',
    {
      type: 'string',
      enum: ['failing', 'paused', 'disabled'],
    },
  ),
  unhealthy_sort: queryParameter('sort', '`impact`: those first that hurt most. Default: by id.', {
    type: 'string',
    enum: ['impact'],
  }),
  unhealthy_account: queryParameter('account_id', 'Only webhooks of this account, without those below it.', {
    type: 'string',
  }),
  unhealthy_cause: queryParameter(
    'cause',
    'Only webhooks with this `cause`, or whose last response had this status, as `503`.',
    { type: 'string' },
  ),
  unhealthy_host: queryParameter(
    'host',
    'Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`.',
    { type: 'string' },
  ),
  unhealthy_since: queryParameter(
    'since',
    'Only webhooks that have failed since this time or a later one: Gregorian seconds, or ISO 8601.',
    { type: ['integer', 'string'] },
  ),
  unhealthy_until: queryParameter(
    'until',
    'Only webhooks that have failed since this time or an earlier one: Gregorian seconds, or ISO 8601.',
    { type: ['integer', 'string'] },
  ),
  delivery_state: queryParameter('state', 'Only deliveries in this state.', { type: 'string' }),
  search_account: queryParameter('account_id', 'Only deliveries to webhooks of this account.', {
    type: 'string',
  }),
  search_webhook: queryParameter('hook_id', 'Only deliveries to this webhook.', { type: 'string' }),
  search_call: queryParameter('call_id', 'Only deliveries of events of this call leg.', { type: 'string' }),
  include_api_key: queryParameter('include_api_key', 'true: show the API key, to an admin.', {
    type: 'boolean',
    default: false,
  }),
  search_type: {
    ...queryParameter('t', 'Type of document.', { type: 'string', enum: ['account'] }),
    required: true,
  },
  search_field: {
    ...queryParameter('q', 'Field to search.', { type: 'string', enum: ['name', 'realm', 'id'] }),
    required: true,
  },
  search_value: {
    ...queryParameter('v', 'How the value of the field begins.', { type: 'string' }),
    required: true,
  },
  by_name: queryParameter('by_name', 'How the name begins.', { type: 'string' }),
  by_realm: queryParameter('by_realm', 'How the realm begins.', { type: 'string' }),
  by_id: queryParameter('by_id', 'How the id begins.', { type: 'string' }),
  stream_types: queryParameter(
    'types',
    'Kinds of items, separated by commas: `attempt`, `webhook`, `event`. Default: `attempt,webhook`.',
    { type: 'string' },
  ),
  stream_webhook: queryParameter('webhook_id', 'Only attempts and changes of this webhook.', {
    type: 'string',
  }),
  looked_up: {
    ...queryParameter('q', 'The id of a webhook, delivery, event or call leg.', { type: 'string' }),
    required: true,
  },
  looked_up_anywhere: {
    ...queryParameter(
      'q',
      'The id of a webhook, delivery, event, call leg or account, or how the name of an account begins (letters and digits only, in any case).',
      { type: 'string' },
    ),
    required: true,
  },
  stream_call: queryParameter('call_id', 'Only attempts and events of this call, all its legs.', {
    type: 'string',
  }),
  stream_result: queryParameter('filter_result', 'Only attempts with this result.', {
    type: 'string',
    enum: ['success', 'failure'],
  }),
  stream_descendants: queryParameter(
    'descendants',
    'true: include the accounts below, at most 1,000 accounts.',
    { type: 'boolean', default: false },
  ),
  pretty_print: queryParameter('pretty_print', 'true: the response is indented.', { type: 'boolean' }),

  if_match: headerParameter('If-Match', '`ETag` of the revision to change; any other revision is 412.'),
  if_none_match: headerParameter(
    'If-None-Match',
    '`ETag` of a revision; 304 without a body if it is current.',
  ),
  last_event_id: headerParameter(
    'Last-Event-ID',
    'Id of the last item that the client has; the stream continues after it.',
  ),
  request_id: headerParameter(
    'X-Request-ID',
    'Id of the request, at most 128 printable ASCII characters; returned as `request_id`.',
  ),
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

export const HEADERS: Readonly<Record<string, SpecObject>> = {
  'X-Request-ID': { description: 'Id of the request.', schema: { type: 'string' } },
  ETag: { description: 'Revision of the document.', schema: { type: 'string' } },
  Location: { description: 'Path of the new document.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
}

/** Envelope fields of every response, in addition to `data`. */
const commonFields: Readonly<Record<string, JsonSchema>> = {
  auth_token: text('The token of the request; for logins, the new token.'),
  request_id: text('Id of the request.'),
  timestamp: { type: 'string', format: 'date-time', description: 'Time of the response, UTC.' },
  version: text('Version of the service; only for authenticated requests.'),
  node: text('Opaque id of the process that responded.'),
}

export const ENVELOPES: Readonly<Record<string, JsonSchema>> = {
  Success: object(
    {
      data: {},
      status: { type: 'string', const: 'success' },
      ...commonFields,
      revision: text('Revision of the document; changes with every change of the document.'),
      page_size: integer('Number of items in this page.'),
      start_key: text('Start of this page, as sent by the client.'),
      next_start_key: text('Start of the next page; absent on the last page.'),
      truncated: {
        type: 'boolean',
        const: true,
        description: 'True: there is more than a list that is not paged contains; absent otherwise.',
      },
    },
    ['data', 'status', 'request_id', 'timestamp', 'node'],
  ),
  Error: object(
    {
      data: {
        type: 'object',
        description: 'Details of the error; for `validation error`, by field and rule.',
      },
      error: text('The HTTP status as a string.'),
      message: text('Name of the error.'),
      status: { type: 'string', const: 'error' },
      ...commonFields,
    },
    ['data', 'error', 'message', 'status', 'request_id', 'timestamp', 'node'],
  ),
}

/** Alternatives to send the token of a login. */
export const SECURITY_SCHEMES: Readonly<Record<string, SpecObject>> = {
  token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'Token from a login.' },
  tokenInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'auth_token',
    description: 'The same token in the query.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same token as a bearer token.' },
}
