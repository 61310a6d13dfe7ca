/** One line of the stream, read and checked: everything after this file may trust its types. */

/** The dialog that the proxy keeps for the call, as it was when the line was written. */
export interface KamailioDialog {
  readonly callId: string
  readonly fromUri?: string
  /** The caller's tag, whoever sent the message of this line. */
  readonly fromTag?: string
  readonly toUri?: string
  /** Whole seconds since the Unix epoch; 0 or absent: not answered. */
  readonly startSeconds?: number
  /** The dialog variable `account`. */
  readonly account?: string
}

/** A line of the stream. Absent: the pseudo-variable had no value. */
export interface KamailioLine {
  readonly event: string
  /** Microseconds since the Unix epoch. */
  readonly timeUs: number
  /** The Call-ID of the call: the dialog's where there is one, for the message may be a dummy. */
  readonly callId: string
  /** True when Kamailio had no message at hand (a timer fired) and showed a made-up OPTIONS instead. */
  readonly dummy: boolean
  readonly method?: string
  readonly fromUri?: string
  readonly fromDisplay?: string
  readonly fromTag?: string
  readonly toUri?: string
  /** The sequence number of the message's CSeq; 0 when there was none. */
  readonly cseq: number
  readonly originalRequestUri?: string
  /** SIP status code. */
  readonly code?: number
  /** On `failure`: the caller had sent CANCEL. */
  readonly canceled: boolean
  /** The header Reason (RFC 3326) of the message. */
  readonly reasonHeader?: string
  readonly dialog?: KamailioDialog
}

/** A line, or why it is none. */
export type ReadLine = { readonly line: KamailioLine } | { readonly malformed: string }

const TIME = /^(\d{1,10})\.(\d{6})$/
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u
const LONE_SURROGATE = /\p{Cs}/gu
const NEEDS_CODE = new Set(['reply', 'reinvite_reply', 'failure', 'sl:local-response'])
const NEEDS_DIALOG = new Set(['dialog:start', 'dialog:end', 'dialog:failed'])

/**
 * Reads one line (a JSON object) of the stream. Never throws: a line that cannot be used is described instead.
 */
export function readLine(text: string): ReadLine {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { malformed: 'the line is not JSON' }
  }
  const row = objectOf(parsed)
  if (!row) return { malformed: 'the line is not a JSON object' }
  const event = textOf(row.event)
  if (!event) return { malformed: 'event is missing or no string' }
  const time = TIME.exec(textOf(row.time) ?? '')
  if (!time) return { malformed: `time is not seconds.microseconds in a ${event} line` }

  const dialogRow = objectOf(row.dialog)
  const dialog = dialogRow && dialogOf(dialogRow)
  if (row.dialog !== undefined && !dialog) return { malformed: `dialog has no call_id in a ${event} line` }
  if (!dialog && NEEDS_DIALOG.has(event)) return { malformed: `dialog is missing in a ${event} line` }
  const messageCallId = textOf(row.call_id)
  const callId = dialog?.callId ?? messageCallId
  if (callId === undefined) return { malformed: `call_id is missing or no string in a ${event} line` }
  if (!CALL_ID.test(callId))
    return { malformed: `call_id is not 1 to 255 printable characters in a ${event} line` }
  const code = codeOf(row.code)
  if (code === undefined && NEEDS_CODE.has(event)) return { malformed: `code is missing in a ${event} line` }

  return {
    line: {
      event,
      timeUs: Number(time[1]) * 1_000_000 + Number(time[2]),
      callId,
      dummy: dialog !== undefined && messageCallId !== dialog.callId,
      cseq: Number(/^\d{1,10}$/.exec(textOf(row.cseq) ?? '')?.[0] ?? 0),
      canceled: row.canceled === true,
      ...present({
        method: textOf(row.method),
        fromUri: textOf(row.from_uri),
        fromDisplay: textOf(row.from_display),
        fromTag: textOf(row.from_tag),
        toUri: textOf(row.to_uri),
        originalRequestUri: textOf(row.original_r_uri),
        code,
        reasonHeader: textOf(row.reason_header),
        dialog,
      }),
    },
  }
}

function dialogOf(row: Record<string, unknown>): KamailioDialog | undefined {
  const callId = textOf(row.call_id)
  if (callId === undefined) return undefined
  return {
    callId,
    ...present({
      fromUri: textOf(row.from_uri),
      fromTag: textOf(row.from_tag),
      toUri: textOf(row.to_uri),
      startSeconds: typeof row.start_ts === 'number' && row.start_ts > 0 ? row.start_ts : undefined,
      account: textOf(row.var_account),
    }),
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Half a surrogate pair has no UTF-8 form: it could be published, but never sent. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.replace(LONE_SURROGATE, '\uFFFD') : undefined
}

function codeOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 699
    ? (value as number)
    : undefined
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The entries that have a value. */
export function present<T extends object>(entries: T): Present<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Present<T>
}
