import type { Log } from '../../ports.js'

/** What must never be written down, and where it is looked for. */
export interface Secrets {
  /** From now on this must not be seen in anything that is written. */
  add(secret: string): void
  /** A text that was written, and where. */
  wrote(where: string, written: unknown): void
  /** Writes that showed a secret: where. */
  leaks(): readonly string[]
  /** A logger whose lines are looked at. */
  readonly log: Log
}

/** So many written texts are kept until the secrets are known. */
const MOST_TEXTS = 2000
const MOST_SECRETS = 50

export function newSecrets(): Secrets {
  const secrets = new Set<string>()
  const written: { readonly where: string; readonly text: string }[] = []
  const wrote = (where: string, what: unknown) => {
    if (written.length < MOST_TEXTS) written.push({ where, text: JSON.stringify(what) ?? '' })
  }
  const line = (level: string) => (fields: object, message: string) =>
    wrote(`log ${level}`, [message, fields])
  return {
    add(secret) {
      if (secrets.size < MOST_SECRETS) secrets.add(secret)
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
