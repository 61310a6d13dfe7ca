/** The audit in the log of the program: one line per change, and per login that was refused. */
import { userInfo } from 'node:os'
import type { Hookswitch, HookswitchEvents, Log } from 'hookswitch'

type AuditRecord = HookswitchEvents['audit']

/**
 * Logs the audit records of an instance at the level `info`, with the field `audit`.
 *
 * @param limited gets refused logins, which clients can repeat
 */
export function logAudit({ events }: Pick<Hookswitch, 'events'>, log: Log, limited: Log): void {
  events.on('audit', (record) => {
    const to = record.refused === undefined ? log : limited
    to.info({ audit: true, ...record, by: whoOf(record) }, 'audit')
  })
}

/** The program itself changes only what its files say. */
function whoOf({ by, action }: AuditRecord): string {
  if (by !== 'host') return by
  return action === 'setLimits' ? 'configuration file' : 'accounts file'
}

/**
 * The result of a command that changes a store without a running service, as one line of JSON that is an audit record too: with
 * the time, the action and the user of the system.
 */
export function auditedResult(
  action: 'rotateServiceSecret' | 'migrate' | 'undoMigration',
  result: object,
): string {
  const record = { time: new Date().toISOString(), audit: true, action, by: systemUser(), ...result }
  return `${JSON.stringify(record)}\n`
}

/** In a container the user may have a number alone. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
