// @ts-check
/** Parts that scenarios share. */

/** @typedef {import('./legs.js').ExpectedLeg} ExpectedLeg */

/** The tenant of a number: 1… is of `acme`, 2… of `globex`. */
const accountOf = (/** @type {string} */ number) => (number.startsWith('2') ? 'globex' : 'acme')

/** Numbers of phones. Those of the trunk have more digits. */
const IS_PHONE = /^[12]\d{3}$/

/** Phones with the account in their configuration. @param {readonly string[]} numbers */
export const phonesOf = (...numbers) =>
  Object.fromEntries(numbers.map((number) => [number, accountOf(number)]))

/**
 * An expected leg, which ends with `channel_destroy`. Its account is that of its phone, its cause NORMAL_CLEARING, and its
 * endpoint is the phone.
 *
 * @param {ExpectedLeg['direction']} direction
 * @param {string} phone
 * @param {string} other
 * @param {readonly string[]} hooks
 * @param {Partial<ExpectedLeg>} [rest]
 * @returns {ExpectedLeg}
 */
export const leg = (direction, phone, other, hooks, rest = {}) => ({
  ...{ direction, phone, other, account: accountOf(phone), cause: 'NORMAL_CLEARING' },
  ...(IS_PHONE.test(phone) ? { endpoint: { kind: 'extension', name: phone } } : {}),
  hooks: [...hooks, 'destroy'],
  ...rest,
})

/**
 * The legs of an answered call between two phones.
 *
 * @param {string} caller
 * @param {string} callee
 * @param {'caller' | 'callee'} endedBy
 * @param {Partial<ExpectedLeg>} [rest]
 */
export const answeredCall = (caller, callee, endedBy, rest = {}) => [
  leg('inbound', caller, callee, ['create', 'answer', `bridge:${callee}`], {
    endedBy: endedBy === 'caller' ? 'this_leg' : 'other_leg',
    code: 200,
    answeredBy: callee,
    ...rest,
  }),
  leg('outbound', callee, caller, ['create', 'answer', `bridge:${caller}`], {
    endedBy: endedBy === 'callee' ? 'this_leg' : 'other_leg',
    code: 200,
    answeredBy: callee,
    ...rest,
  }),
]
