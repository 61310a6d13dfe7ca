/** Reasons for which a webhook gets no event that the page has words for: `match.hook` and so on. Pure. */
const REASONS = [
  'hook',
  'only',
  'document',
  'internal_leg',
  'account',
  'filter',
  'disabled',
  'account_disabled',
  'created_later',
  'changed_later',
  'no_record',
] as const

/** Reasons may be added to the service. */
export const isUnmatchedReason = (why: string): why is (typeof REASONS)[number] =>
  REASONS.some((reason) => reason === why)
