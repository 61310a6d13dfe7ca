import type { Log } from '../ports.js'

/** Records what the nodes write to the log and the store, and finds secrets in it (I13). */
export interface Secrets {
  /** Declares a secret: it must not occur in anything written, before or after. */
  add(secret: string): void
  /** Records a value that was written. */
  wrote(where: string, written: unknown): void
  /** The places where a secret was written. */
  leaks(): readonly string[]
  /** A log that records its lines. */
  readonly log: Log
}

const MAX_TEXTS = 2000
const MAX_SECRETS = 50

export function createSecrets(): Secrets {
  const secrets = new Set<string>()
  const written: { readonly where: string; readonly text: string }[] = []
  const wrote = (where: string, value: unknown) => {
    if (written.length < MAX_TEXTS) written.push({ where, text: JSON.stringify(value) ?? '' })
  }
  const line = (level: string) => (fields: object, message: string) =>
    wrote(`log ${level}`, [message, fields])
  return {
    add(secret) {
      if (secrets.size < MAX_SECRETS) secrets.add(secret)
    },
    wrote,
    leaks() {
      const all = [...secrets]
      return written
        .filter(({ text }) => all.some((secret) => text.includes(secret)))
        .map(({ where }) => where)
    },
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
  }
}
