/** Parses and validates one line of the stream: all other files rely on the types of `KamailioLine`. */

/** The dialog that the proxy keeps for the call, as of the line. */
export interface KamailioDialog {
  /** Call-ID of the dialog (RFC 3261 section 12). */
  readonly callId: string
  /** URI of the caller: From of the INVITE. */
  readonly fromUri: string | undefined
  /** The caller's tag, also for messages from the callee. */
  readonly fromTag: string | undefined
  /** URI of the callee: To of the INVITE. */
  readonly toUri: string | undefined
  /** Start of the dialog, whole seconds since the Unix epoch; `undefined`: not answered. */
  readonly startSeconds: number | undefined
  /** The dialog variable `account`. */
  readonly account: string | undefined
}

/** A line of the stream. `undefined`: the pseudo-variable had no value. */
export interface KamailioLine {
  /** Event point of the routing script: `invite`, `reply`, `dialog:start`, … */
  readonly event: string
  /** Microseconds since the Unix epoch. */
  readonly timeUs: number
  /** The Call-ID of the call: the dialog's if there is one, because the message may be a dummy. */
  readonly callId: string
  /** Kamailio had no message (a timer fired) and shows a generated OPTIONS instead. */
  readonly dummy: boolean
  /** Method of the SIP message, such as `INVITE`. */
  readonly method: string | undefined
  /** URI of the message's From header. */
  readonly fromUri: string | undefined
  /** Display name of the From header, with its quotes if it has any. */
  readonly fromDisplay: string | undefined
  /** Tag of the From header. */
  readonly fromTag: string | undefined
  /** URI of the message's To header. */
  readonly toUri: string | undefined
  /** Sequence number of the message's CSeq; 0: none. */
  readonly cseq: number
  /** Request URI as it arrived, before routing changed it. */
  readonly originalRequestUri: string | undefined
  /** SIP status code. */
  readonly code: number | undefined
  /** On `failure`: the caller had sent CANCEL. */
  readonly canceled: boolean
  /** The message's Reason header (RFC 3326). */
  readonly reasonHeader: string | undefined
  /** State of the dialog; `undefined`: the message belongs to none. */
  readonly dialog: KamailioDialog | undefined
}

/** A line, or why it is invalid. */
type ParsedLine = KamailioLine | { readonly malformed: string }

const TIME = /^(\d{1,10})\.(\d{6})$/
const CODE = /^[1-6]\d\d$/
const ASCII_CALL_ID = /^[!-~]{1,255}$/
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u
const CSEQ = /^\d{1,10}$/
const IS_TRUE: ReadonlySet<unknown> = new Set([true, 1, 'true', '1'])
const NEEDS_CODE: ReadonlySet<string> = new Set(['reply', 'reinvite_reply', 'failure', 'sl:local-response'])
const NEEDS_DIALOG: ReadonlySet<string> = new Set(['dialog:start', 'dialog:end', 'dialog:failed'])

/** Maximum number of characters in a line. */
export const MAX_LINE_LENGTH = 65_536

/** Parses one line, a JSON object. Never throws: an invalid line is described instead. */
export function parseLine(text: string): ParsedLine {
  if (text.length > MAX_LINE_LENGTH)
    return { malformed: `the line is longer than ${MAX_LINE_LENGTH} characters` }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { malformed: 'the line is not JSON' }
  }
  return parseLineObject(parsed)
}

/** Validates a line that was parsed as JSON already. */
export function parseLineObject(parsed: unknown): ParsedLine {
  const row = objectOf(parsed)
  if (!row) return { malformed: 'the line is not a JSON object' }
  const event = typeof row.event === 'string' ? textOf(row.event) : undefined
  if (!event) return { malformed: 'event is missing or not a string' }
  const time = TIME.exec((typeof row.time === 'number' ? row.time.toFixed(6) : textOf(row.time)) ?? '')
  if (!time) return { malformed: `time is not seconds.microseconds in a ${shorten(event)} line` }

  const dialog = dialogOf(row.dialog)
  if (row.dialog !== undefined && !dialog)
    return { malformed: `dialog has no call_id in a ${shorten(event)} line` }
  if (!dialog && NEEDS_DIALOG.has(event)) return { malformed: `dialog is missing in a ${event} line` }
  const messageCallId = textOf(row.call_id)
  const callId = dialog?.callId ?? messageCallId
  if (callId === undefined)
    return { malformed: `call_id is missing or not a string in a ${shorten(event)} line` }
  if (!ASCII_CALL_ID.test(callId) && !CALL_ID.test(callId))
    return { malformed: `call_id is not 1 to 255 printable characters in a ${shorten(event)} line` }
  const code = codeOf(row.code)
  if (code === undefined && NEEDS_CODE.has(event)) return { malformed: `code is missing in a ${event} line` }
  const cseq = textOf(row.cseq) ?? ''

  return {
    event,
    timeUs: Number(time[1]) * 1_000_000 + Number(time[2]),
    callId,
    dummy: dialog !== undefined && messageCallId !== dialog.callId,
    method: textOf(row.method),
    fromUri: textOf(row.from_uri),
    fromDisplay: textOf(row.from_display),
    fromTag: textOf(row.from_tag),
    toUri: textOf(row.to_uri),
    cseq: CSEQ.test(cseq) ? Number(cseq) : 0,
    originalRequestUri: textOf(row.original_r_uri),
    code,
    canceled: IS_TRUE.has(row.canceled),
    reasonHeader: textOf(row.reason_header),
    dialog,
  }
}

function dialogOf(value: unknown): KamailioDialog | undefined {
  const row = objectOf(value)
  const callId = row && textOf(row.call_id)
  if (callId === undefined) return undefined
  const start = textOf(row?.start_ts) ?? ''
  return {
    callId,
    fromUri: textOf(row?.from_uri),
    fromTag: textOf(row?.from_tag),
    toUri: textOf(row?.to_uri),
    startSeconds: /^\d{1,10}$/.test(start) && Number(start) > 0 ? Number(start) : undefined,
    account: textOf(row?.var_account),
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/**
 * Returns a string, or a whole number as one: a script may write any value with or without quotes. Replaces lone surrogates:
 * they have no UTF-8 form, so the event could be published but never sent.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return Number.isSafeInteger(value) ? String(value) : undefined
  return value.isWellFormed() ? value : value.toWellFormed()
}

function codeOf(value: unknown): number | undefined {
  const code = textOf(value) ?? ''
  return CODE.test(code) ? Number(code) : undefined
}

/** Limits the length of an unknown event name for logs. */
function shorten(event: string): string {
  return event.length <= 64 ? event : `${event.slice(0, 64)}…`
}
