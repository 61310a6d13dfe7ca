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

/** Whether the page has words for why a webhook gets no event, such as `match.hook`. The service may add reasons. Pure. */
export const isUnmatchedReason = (why: string): why is (typeof REASONS)[number] =>
  REASONS.some((reason) => reason === why)
