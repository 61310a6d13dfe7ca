import { HookswitchError } from 'hookswitch/store'

/** @throws HookswitchError `RevisionConflict` if another revision than the expected one is stored */
export function assertRevision(id: string, stored: number, expected: number | undefined): void {
  if (expected === undefined || expected === stored) return
  throw new HookswitchError('RevisionConflict', `${id} was changed concurrently`, { id })
}
