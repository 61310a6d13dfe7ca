/** Reads a response of the API. Everything that is not one becomes an error. */
import type { Endpoint, FieldWarning } from './call.js'
import { HookswitchClientError, redact } from './error.js'

/** The envelope of a success, in camel case. */
export interface Envelope {
  readonly data: unknown
  readonly status: number
  readonly revision?: string
  readonly requestId?: string
  readonly authToken?: string
  readonly startKey?: string
  readonly nextStartKey?: string
  readonly isTruncated?: true
  readonly warnings?: readonly FieldWarning[]
}

/** What a response is read with. */
interface ResponseContext {
  /** The call, for messages: `GET /webhooks`. */
  readonly what: string
  readonly endpoint: Endpoint
  readonly maxResponseBytes: number
  /** Texts that no error may contain. */
  readonly secrets: readonly string[]
  /** Current Unix time in milliseconds, for a `Retry-After` with a date. */
  readonly nowMs: number
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @throws `redirected`, `invalid_response`, or the error of the service. Errors while the body arrives are passed on
 */
export async function readResponse(response: Response, context: ResponseContext): Promise<Envelope> {
  const { what, endpoint } = context
  const { status } = response
  const details = { status, retryAfterSeconds: retryAfterSeconds(response, context.nowMs) }
  const invalid = (problem: string) =>
    new HookswitchClientError('invalid_response', `${what}: ${problem}`, details)
  if (status === 304 || status === 204) return { data: undefined, status, ...revisionOf(response) }
  // With `redirect: 'manual'`, browsers hide the response and its status.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    await discard(response)
    const problem = 'the server redirects, which is not followed; is the URL that of the API?'
    throw new HookswitchClientError('redirected', `${what}: ${problem}`, status === 0 ? {} : { status })
  }
  const type = response.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type)) {
    await discard(response)
    throw invalid(`the server answered ${status} without JSON; is the URL that of the API?`)
  }
  const text = await readText(response, context.maxResponseBytes)
  if (text === undefined) {
    throw invalid(`the response exceeds ${context.maxResponseBytes} bytes, request smaller pages`)
  }
  const body = parse(text)
  if (response.ok && endpoint.isRaw && isObject(body)) return { data: body, status }
  if (!isObject(body)) throw invalid(`the server answered ${status} without a JSON object`)
  if (!response.ok) throw serviceError(body, context, details)
  if (body.status !== 'success' || !('data' in body)) throw invalid('the response is not one of this API')
  return {
    data: body.data,
    status,
    ...warningsOf(body.metadata),
    ...(body.truncated === true && { isTruncated: true as const }),
    ...texts({
      revision: body.revision,
      requestId: body.request_id,
      startKey: body.start_key,
      nextStartKey: body.next_start_key,
      authToken: endpoint.isOpen ? body.auth_token : undefined,
    }),
  }
}

/** Warnings in the `metadata` of the envelope; others than those of this API are left out. */
function warningsOf(metadata: unknown): Pick<Envelope, 'warnings'> {
  if (!isObject(metadata) || !Array.isArray(metadata.warnings)) return {}
  const warnings = metadata.warnings.filter(
    (warning): warning is FieldWarning =>
      isObject(warning) &&
      [warning.path, warning.message, warning.target].every((text) => typeof text === 'string'),
  )
  return warnings.length === 0 ? {} : { warnings }
}

/** The entries that are texts. */
function texts<Name extends string>(entries: Readonly<Record<Name, unknown>>): { [Key in Name]?: string } {
  return Object.fromEntries(
    Object.entries(entries).filter(([, value]) => typeof value === 'string' && value !== ''),
  ) as { [Key in Name]?: string }
}

function serviceError(
  body: Json,
  { what, secrets }: ResponseContext,
  details: { readonly status: number },
): HookswitchClientError {
  const { message, data, requestId } = redact(
    { message: body.message, data: body.data, requestId: body.request_id },
    secrets,
  )
  if (body.status !== 'error' || typeof message !== 'string') {
    const problem = `the server answered ${details.status} without an error of this API`
    return new HookswitchClientError('invalid_response', `${what}: ${problem}`, details)
  }
  const code = message.slice(0, 200)
  // `what` has the parameters of the path, not their values.
  const id = code === 'bad_identifier' && isObject(data) && typeof data.cause === 'string' ? data.cause : ''
  const quoted = id === '' ? '' : ` '${id.slice(0, 100)}'`
  return new HookswitchClientError(code, `${what}: ${details.status} ${code}${reasonsOf(data)}${quoted}`, {
    ...details,
    ...(isObject(data) ? { data } : {}),
    ...texts({ requestId }),
  })
}

/** At most this many violated rules are in the message; all are in `data`. */
const MAX_REASONS = 5

/** The violated rules by field, or the sentence of the error: `: name: Field is required but missing`. */
function reasonsOf(data: unknown): string {
  if (!isObject(data)) return ''
  if (typeof data.message === 'string') return `: ${data.message.slice(0, 200)}`
  const reasons = Object.entries(data).flatMap(([field, rules]) =>
    isObject(rules)
      ? Object.values(rules).flatMap((rule) =>
          isObject(rule) && typeof rule.message === 'string'
            ? [`${field}: ${rule.message}`.slice(0, 200)]
            : [],
        )
      : [],
  )
  const rest = reasons.length > MAX_REASONS ? [`and ${reasons.length - MAX_REASONS} more`] : []
  return reasons.length === 0 ? '' : `: ${[...reasons.slice(0, MAX_REASONS), ...rest].join('; ')}`
}

function revisionOf(response: Response): { readonly revision?: string } {
  const tag = /^(?:W\/)?"([^"]*)"$/.exec(response.headers.get('etag') ?? '')?.[1]
  return tag ? { revision: tag } : {}
}

/** Seconds until the time of `Retry-After`, which has seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterSeconds(response: Response, nowMs: number): number | undefined {
  const text = response.headers.get('retry-after')
  if (text === null) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1_000))
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** Reads the body as UTF-8; `undefined`: it is larger than the limit. */
async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let bytes = 0
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      await reader.cancel().catch(() => {})
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
