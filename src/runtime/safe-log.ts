import type { Clock, Log } from '../ports.js'
import { redactFields, redactText } from '../values/redact.js'

type Fields = Readonly<Record<string, unknown>>
type Level = keyof Log

const SILENT: Log = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} })

/**
 * Wraps the host's logger: it never throws, and secrets in fields and messages are redacted.
 *
 * @param log default: a silent logger
 */
export function safeLog(log: Log | undefined): Log {
  if (!log) return SILENT
  const level = (name: Level) => (fields: Fields, message: string) => {
    try {
      const result: unknown = log[name](redactOrOmit(fields), redactText(message))
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // A failing logger must not affect the service.
    }
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** Logs the message without its fields when they cannot be read (a getter throws). */
function redactOrOmit(fields: Fields): Fields {
  try {
    return redactFields(fields)
  } catch {
    return {}
  }
}

/** Lines of one kind that are written before they are counted. */
const FIRST_LINES = 10
/** Between two lines of a kind that is counted, ms. After as long without a line, the kind begins anew. */
const INTERVAL_MS = 10_000
/** Kinds that are counted at the same time; all others share one. */
const MAX_KINDS = 100
const OTHERS = ''
/** Kinds of single accounts; all others have those of their messages. */
const MAX_ACCOUNT_KINDS = 100

type Write = (fields: Fields, message: string) => void

interface Kind {
  lines: number
  /** Time of the last line, written or not; monotonic, ms. */
  lastMs: number
  /** Lines that are not written, and the last of them. */
  waiting: number
  write?: (() => void) | undefined
}

/**
 * Limits lines that repeat: of each kind ten are written, then one every 10 s, the last one, with the number of lines that it
 * stands for in `repeated`. After the ten, lines with an `accountId` are counted for each account, and the first of each is
 * written: the lines of an account do not hide those of another. `debug` is not limited. Memory is bounded whatever the
 * messages and accounts are.
 *
 * @param log must not throw
 * @param kindOf tells the lines of one message apart by more than their SQLSTATE or code. Default: by nothing
 * @returns the log; `close` writes the lines that wait. Later ones are limited as before, and those above the limit are lost
 */
export function limitLog(
  log: Log,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  kindOf: (fields: Readonly<Record<string, unknown>>) => string = () => '',
): Log & { close(): void } {
  const kinds = new Map<string, Kind>()
  const accountKinds = new Map<string, Kind>()
  const closing = new AbortController()

  /** Undefined: there are too many. */
  function findOrAdd(among: Map<string, Kind>, key: string, most: number, nowMs: number): Kind | undefined {
    const found = among.get(key)
    if (found && (found.waiting > 0 || nowMs - found.lastMs < INTERVAL_MS)) return found
    if (!found && among.size >= most) forgetQuiet(among, nowMs)
    if (!found && among.size >= most) return undefined
    const kind = { lines: 0, lastMs: nowMs, waiting: 0 }
    among.set(key, kind)
    return kind
  }

  function forgetQuiet(among: Map<string, Kind>, nowMs: number): void {
    for (const [key, { waiting, lastMs }] of among)
      if (waiting === 0 && nowMs - lastMs >= INTERVAL_MS) among.delete(key)
  }

  function count(kind: Kind, nowMs: number): void {
    kind.lastMs = nowMs
    kind.lines += 1
  }

  function flush(kind: Kind): void {
    const { write } = kind
    kind.write = undefined
    write?.()
    kind.waiting = 0
  }

  const limited =
    (level: Level): Write =>
    (fields, message) => {
      const nowMs = clock.monotonic()
      const detail = fields.sqlState ?? fields.code
      const key = [level, message, detail, kindOf(fields)].join(' ')
      const ofMessage =
        findOrAdd(kinds, key, MAX_KINDS, nowMs) ?? findOrAdd(kinds, OTHERS, MAX_KINDS + 1, nowMs)!
      const { accountId } = fields
      const ofAccount =
        typeof accountId === 'string'
          ? findOrAdd(accountKinds, `${accountId} ${key}`, MAX_ACCOUNT_KINDS, nowMs)
          : undefined
      count(ofMessage, nowMs)
      if (ofAccount) count(ofAccount, nowMs)
      if (ofMessage.lines <= FIRST_LINES || ofAccount?.lines === 1) return log[level](fields, message)
      const kind = ofAccount ?? ofMessage
      kind.waiting += 1
      kind.write = () => {
        const { waiting } = kind
        log[level](waiting > 1 ? { ...fields, repeated: waiting } : fields, message)
      }
      if (kind.waiting === 1 && !closing.signal.aborted)
        void clock.sleep(INTERVAL_MS, closing.signal).then(() => flush(kind))
    }

  return {
    debug: log.debug,
    info: limited('info'),
    warn: limited('warn'),
    error: limited('error'),
    // The lines that wait are written when their sleep ends.
    close: () => closing.abort(),
  }
}
