/** Numbers and user names as they are searched in events. */

/** What a search finds as a whole word: without quotes, escapes or gaps. */
const NUMBER = /^\+?[^\s"\\\p{Cc}\p{Cs}+]{3,128}$/u

export const NUMBER_RULE = 'must be a number or name of 3 to 128 characters'

/** Whether a text is a number or name that can be searched. */
export const isNumber = (value: unknown): value is string => typeof value === 'string' && NUMBER.test(value)

/** A leading plus makes no difference to a search. */
export const withoutPlus = (number: string): string => number.replace(/^\+/, '')
