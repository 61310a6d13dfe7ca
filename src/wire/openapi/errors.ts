import { HookswitchError } from '../../errors.js'
import { errorBody } from '../envelope.js'
import {
  FAULT,
  FORBIDDEN,
  INVALID_CREDENTIALS,
  invalid,
  NOT_ACCEPTABLE,
  type Refusal,
  refusalOf,
  tooLarge,
  unknownId,
  WRONG_MEDIA_TYPE,
} from '../error-body.js'
import type { Route } from '../route.js'
import { FRAME } from './examples.js'

type Part = Readonly<Record<string, unknown>>

const BROKEN_RULES = [
  { path: 'name', rule: 'required', message: 'Field is required but missing', target: 'required' },
  { path: 'retries', rule: 'maximum', message: 'Value must be at most 10', target: 10, value: 99 },
]
const MAX_BODY_BYTES = 1_048_576

const thrown = (code: ConstructorParameters<typeof HookswitchError>[0]) =>
  refusalOf(new HookswitchError(code, ''))

/** What a client is told, with the words that the answers themselves use. */
const REFUSALS: readonly (readonly [refusal: Refusal, description: string])[] = [
  [invalid(BROKEN_RULES), 'The request is not what the operation takes: every broken rule by field.'],
  [INVALID_CREDENTIALS, 'No token or none that counts; a wrong login. The same answer for every cause.'],
  [FORBIDDEN, "An account outside the token's authority, existing or not."],
  [unknownId('c1f0a5'), 'Nothing here has this id.'],
  [NOT_ACCEPTABLE, '`Accept` excludes JSON.'],
  [thrown('Conflict'), 'An idempotency key that stands for another event.'],
  [thrown('RevisionConflict'), 'The document has another revision than `If-Match` says.'],
  [tooLarge(MAX_BODY_BYTES), 'The body is larger than 1 MiB.'],
  [WRONG_MEDIA_TYPE, 'The body is said to be something else than JSON.'],
  [thrown('AccountLocked'), 'The account is disabled.'],
  [thrown('TooManyLogins'), 'Too many logins, tests or replays, or too many deliveries wait.'],
  [thrown('StoreUnavailable'), 'The storage is out, or the service is closing.'],
]

function answerOf({ status, message, data, headers = {} }: Refusal, description: string): Part {
  const names = ['X-Request-ID', ...('retry-after' in headers ? ['Retry-After'] : [])]
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: JSON.parse(errorBody(status, message, data, FRAME)),
      },
    },
  }
}

/** Answers to requests that fail, by status; `default` stands for those that any request may get. */
export const ERROR_ANSWERS: Readonly<Record<string, Part>> = {
  ...Object.fromEntries(REFUSALS.map(([refusal, text]) => [`${refusal.status}`, answerOf(refusal, text)])),
  default: answerOf(FAULT, 'Any other error, in the same form.'),
}

/** Statuses with which a route may fail, beside `default`. */
export function errorStatuses(route: Route): readonly string[] {
  const login = !route.token && route.body !== 'none'
  const ids = route.path.split('/').filter((part) => part.startsWith('{') && part !== '{account_id}')
  const applies: readonly (readonly [status: string, when: boolean])[] = [
    ['400', route.token || login || route.list === true],
    ['401', route.token || login],
    ['403', route.path.includes('{account_id}')],
    ['404', ids.length > 0 || route.ingest === true],
    ['406', true],
    ['409', route.ingest === true],
    ['412', /^(replace|patch|delete)Webhook$/.test(route.operation)],
    ['413', route.body !== 'none'],
    ['415', route.body !== 'none'],
    ['423', login],
    ['429', login || route.ingest === true],
    ['503', route.token || login],
  ]
  return applies.filter(([, when]) => when).map(([status]) => status)
}
