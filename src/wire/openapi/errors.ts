/** Error responses of the OpenAPI document. */
import { HookswitchError } from '../../errors.js'
import { serializeError } from '../envelope.js'
import {
  badIdentifier,
  bodyTooLarge,
  FORBIDDEN,
  type HttpError,
  INTERNAL_ERROR,
  INVALID_CREDENTIALS,
  NOT_ACCEPTABLE,
  notImplemented,
  toHttpError,
  UNSUPPORTED_MEDIA_TYPE,
  validationError,
} from '../error-body.js'
import type { Route } from '../routes.js'
import { ENVELOPE_FIELDS } from './examples.js'

type SpecObject = Readonly<Record<string, unknown>>

const EXAMPLE_FAILURES = [
  { path: 'name', rule: 'required', message: 'Field is required but missing', target: 'required' },
  { path: 'retries', rule: 'maximum', message: 'Value must be at most 10', target: 10, value: 99 },
]
const MAX_BODY_BYTES = 1_048_576

const httpErrorOfCode = (code: ConstructorParameters<typeof HookswitchError>[0]) =>
  toHttpError(new HookswitchError(code, ''))

/** Errors as the API returns them, with their descriptions. */
const ERRORS: readonly (readonly [error: HttpError, description: string])[] = [
  [validationError(EXAMPLE_FAILURES), 'The request is invalid; `data` lists every violated rule by field.'],
  [
    INVALID_CREDENTIALS,
    'Missing or invalid token, or wrong login. The response is the same for every cause.',
  ],
  [FORBIDDEN, 'The token does not give access to the account, or the account does not exist.'],
  [badIdentifier('c1f0a5'), 'The id does not exist.'],
  [NOT_ACCEPTABLE, '`Accept` excludes JSON, or for a stream `text/event-stream`.'],
  [
    httpErrorOfCode('Conflict'),
    'The idempotency key was used for a different event, the id was used before, there are accounts below, the webhook of a replay is disabled, or the replay has ended.',
  ],
  [httpErrorOfCode('RevisionConflict'), 'The revision of the document does not match `If-Match`.'],
  [
    bodyTooLarge(MAX_BODY_BYTES),
    'The body is larger than 1 MiB, or a list of events is too long or makes too many deliveries.',
  ],
  [UNSUPPORTED_MEDIA_TYPE, 'The content type of the body is not JSON.'],
  [httpErrorOfCode('AccountLocked'), 'The account is disabled.'],
  [
    notImplemented('accounts are kept by the host', 'createUser'),
    "The host's own directory of accounts lacks this ability.",
  ],
  [
    httpErrorOfCode('TooManyLogins'),
    'Too many logins, tests, replays or checks, too many waiting deliveries, or too many open streams.',
  ],
  [httpErrorOfCode('StoreUnavailable'), 'The storage is unavailable, or the service is closing.'],
]

function errorResponseObject(
  { status, name, data, headers = {} }: HttpError,
  description: string,
): SpecObject {
  const headerNames = ['X-Request-ID', ...('retry-after' in headers ? ['Retry-After'] : [])]
  return {
    description,
    headers: Object.fromEntries(
      headerNames.map((header) => [header, { $ref: `#/components/headers/${header}` }]),
    ),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: JSON.parse(serializeError(status, name, data, ENVELOPE_FIELDS)),
      },
    },
  }
}

/** Error responses by status; `default` covers every other error. */
export const ERROR_RESPONSES: Readonly<Record<string, SpecObject>> = {
  ...Object.fromEntries(ERRORS.map(([error, text]) => [`${error.status}`, errorResponseObject(error, text)])),
  default: errorResponseObject(INTERNAL_ERROR, 'Any other error, in the same format.'),
}

/** Operations on accounts and users that a host's directory has not. */
const KEPT_BY_HOST =
  /^(rotateApiKey|listAccounts|moveAccount|\w+(Users?)|(create|createChild|replace|patch|delete)Account)$/

/** Returns the error statuses that a route can return, in addition to `default`. */
export function errorStatuses(route: Route): readonly string[] {
  const isLogin = !route.requiresToken && route.bodyKind !== 'none'
  const isIssue = route.operation === 'issueToken'
  const ids = route.path.split('/').filter((part) => part.startsWith('{') && part !== '{account_id}')
  const statuses: readonly (readonly [status: string, applies: boolean])[] = [
    ['400', route.requiresToken || isLogin || route.isList === true],
    ['401', route.requiresToken || isLogin],
    ['403', route.requiresToken && route.path !== '/token_auth'],
    [
      '404',
      ids.length > 0 ||
        route.isIngest === true ||
        isIssue ||
        /^(setHold|startJob|listUnhealthyWebhooks)$/.test(route.operation) ||
        route.path.includes('{account_id}'),
    ],
    ['406', true],
    [
      '409',
      route.isIngest === true ||
        /^(create(Child)?Account|createUser|deleteAccount|replay\w+|set\w*Replay|setJob)$/.test(
          route.operation,
        ),
    ],
    ['412', /^(replace|patch|delete)(Webhook|Account|User)$/.test(route.operation)],
    ['413', route.bodyKind !== 'none'],
    ['415', route.bodyKind !== 'none'],
    ['423', isLogin || isIssue],
    [
      '429',
      isLogin ||
        route.isIngest === true ||
        route.isStream === true ||
        /^(replay|checkAddress|startJob|setHold)/.test(route.operation),
    ],
    ['501', KEPT_BY_HOST.test(route.operation)],
    ['503', route.requiresToken || isLogin],
  ]
  return statuses.filter(([, applies]) => applies).map(([status]) => status)
}
