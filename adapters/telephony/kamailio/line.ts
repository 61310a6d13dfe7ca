/** One line of the stream, read and checked: everything after this file may trust its types. */

/** The dialog that the proxy keeps for the call, as it was when the line was written. */
export interface KamailioDialog {
  readonly callId: string
  readonly fromUri: string | undefined
  /** The caller's tag, whoever sent the message of this line. */
  readonly fromTag: string | undefined
  readonly toUri: string | undefined
  /** Whole seconds since the Unix epoch; undefined: not answered. */
  readonly startSeconds: number | undefined
  /** The dialog variable `account`. */
  readonly account: string | undefined
}

/** A line of the stream. `undefined`: the pseudo-variable had no value. */
export interface KamailioLine {
  readonly event: string
  /** Microseconds since the Unix epoch. */
  readonly timeUs: number
  /** The Call-ID of the call: the dialog's where there is one, for the message may be a dummy. */
  readonly callId: string
  /** True when Kamailio had no message at hand (a timer fired) and showed a made-up OPTIONS instead. */
  readonly dummy: boolean
  readonly method: string | undefined
  readonly fromUri: string | undefined
  readonly fromDisplay: string | undefined
  readonly fromTag: string | undefined
  readonly toUri: string | undefined
  /** The sequence number of the message's CSeq; 0 when there was none. */
  readonly cseq: number
  readonly originalRequestUri: string | undefined
  /** SIP status code. */
  readonly code: number | undefined
  /** On `failure`: the caller had sent CANCEL. */
  readonly canceled: boolean
  /** The header Reason (RFC 3326) of the message. */
  readonly reasonHeader: string | undefined
  readonly dialog: KamailioDialog | undefined
}

/** A line, or why it is none. */
export type ReadLine = KamailioLine | { readonly malformed: string }

const TIME = /^(\d{1,10})\.(\d{6})$/
const PLAIN_CALL_ID = /^[!-~]{1,255}$/
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u
const CSEQ = /^\d{1,10}$/
const NEEDS_CODE: ReadonlySet<string> = new Set(['reply', 'reinvite_reply', 'failure', 'sl:local-response'])
const NEEDS_DIALOG: ReadonlySet<string> = new Set(['dialog:start', 'dialog:end', 'dialog:failed'])

/** Most characters of a line. */
export const LONGEST_LINE = 65_536

/** Reads one line (a JSON object) of the stream. Never throws: a line that cannot be used is described instead. */
export function readLine(text: string): ReadLine {
  if (text.length > LONGEST_LINE) return { malformed: `the line is longer than ${LONGEST_LINE} characters` }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { malformed: 'the line is not JSON' }
  }
  return readRow(parsed)
}

/** The same of a line that was parsed already. */
export function readRow(parsed: unknown): ReadLine {
  const row = objectOf(parsed)
  if (!row) return { malformed: 'the line is not a JSON object' }
  const event = textOf(row.event)
  if (!event) return { malformed: 'event is missing or no string' }
  const time = TIME.exec(textOf(row.time) ?? '')
  if (!time) return { malformed: `time is not seconds.microseconds in a ${shown(event)} line` }

  const dialog = dialogOf(row.dialog)
  if (row.dialog !== undefined && !dialog)
    return { malformed: `dialog has no call_id in a ${shown(event)} line` }
  if (!dialog && NEEDS_DIALOG.has(event)) return { malformed: `dialog is missing in a ${event} line` }
  const messageCallId = textOf(row.call_id)
  const callId = dialog?.callId ?? messageCallId
  if (callId === undefined) return { malformed: `call_id is missing or no string in a ${shown(event)} line` }
  if (!PLAIN_CALL_ID.test(callId) && !CALL_ID.test(callId))
    return { malformed: `call_id is not 1 to 255 printable characters in a ${shown(event)} line` }
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
    canceled: row.canceled === true,
    reasonHeader: textOf(row.reason_header),
    dialog,
  }
}

function dialogOf(value: unknown): KamailioDialog | undefined {
  const row = objectOf(value)
  const callId = row && textOf(row.call_id)
  if (callId === undefined) return undefined
  const { start_ts: start } = row as Record<string, unknown>
  return {
    callId,
    fromUri: textOf(row?.from_uri),
    fromTag: textOf(row?.from_tag),
    toUri: textOf(row?.to_uri),
    startSeconds: typeof start === 'number' && start > 0 ? start : undefined,
    account: textOf(row?.var_account),
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Half a surrogate pair has no UTF-8 form: it could be published, but never sent. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.isWellFormed() ? value : value.toWellFormed()
}

function codeOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 699
    ? (value as number)
    : undefined
}

/** A name of somebody else's choice, short enough for a log. */
function shown(event: string): string {
  return event.length <= 64 ? event : `${event.slice(0, 64)}…`
}
