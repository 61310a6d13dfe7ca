/** The audit in the log of the program: one line per change, and per login that was refused. */
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
