/** Numbers and user names of calls, in the one form in which they are compared, indexed and searched. */

/** What people write between the digits of a number. */
const SEPARATORS = /[\s().\-/]/g
const DIGITS = /^\+?[0-9]+$/
/** A number with so many digits after `00` is an international one; a shorter one may be an extension such as `007`. */
const MIN_INTERNATIONAL = 7
const MAX_LENGTH = 64
/** A number or name has a letter, a digit, `*` or `#`. */
const IS_NUMBER = /[\p{L}\p{N}*#]/u
/** What a search finds as a whole word: without quotes, escapes or gaps. */
const IS_WORD = /^[^\s"\\\p{Cc}\p{Cs}+]{3,}$/u

export const NUMBER_RULE = `must be a number or name of 3 to ${MAX_LENGTH} characters`

/**
 * The form of a number or user name in which numbers are compared: of a SIP or tel URI its user part, digits without a leading
 * `+` or `00`, names in lower case. `undefined`: it has nothing to compare, or more than 64
 * characters.
 *
 * @example
 * normalizeNumber('sip:+49 30 123456@pbx.example') // '4930123456'
 */
export const normalizeNumber = (text: string): string | undefined => plainNumber(text)?.toLowerCase()

/** The same as events are searched for it (`isMentioned`): names as they are written. `undefined`: see `NUMBER_RULE`. */
export function searchedNumber(text: unknown): string | undefined {
  const number = typeof text === 'string' ? plainNumber(text) : undefined
  return number !== undefined && IS_WORD.test(number) ? number : undefined
}

function plainNumber(text: string): string | undefined {
  const at = text.indexOf('@')
  const user = (at < 0 ? text : text.slice(0, at)).replace(/^(sips?|tel):/i, '')
  const end = user.indexOf(';')
  const bare = (end < 0 ? user : user.slice(0, end)).slice(0, 2 * MAX_LENGTH).trim()
  const compact = bare.replace(SEPARATORS, '')
  const number = DIGITS.test(compact) ? withoutPrefix(compact) : bare
  return number.length > MAX_LENGTH || !IS_NUMBER.test(number) ? undefined : number
}

function withoutPrefix(digits: string): string {
  if (digits.startsWith('+')) return digits.slice(1)
  return isInternational(digits) ? digits.slice(2) : digits
}

const isInternational = (digits: string) => digits.startsWith('00') && digits.length >= 2 + MIN_INTERNATIONAL

/** The spellings of a `searchedNumber` in which it is one word: numbers also with `00`. A `+` is no part of a word. */
export function spellingsOf(number: string): readonly string[] {
  const international = `00${number}`
  return DIGITS.test(number) && isInternational(international) ? [number, international] : [number]
}
