import { HookswitchError } from './errors.js'
import { parseUrl } from './values/parse-url.js'

/** Checks of single options: each throws `InvalidOption` naming the field, never showing the value. */

/** The error of a wrong option. */
export function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field })
}

/** Throws `InvalidOption` for a value that is none. */
export type Check = (field: string, value: unknown) => void

/** A whole number in a range. */
export const whole =
  (least: number, most: number): Check =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
      throw invalid(field, `must be a whole number from ${least} to ${most}`)
    }
  }
/** A number of at least this. */
export const number =
  (least: number): Check =>
  (field, value) => {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
      throw invalid(field, `must be a number of at least ${least}`)
    }
  }
/** True or false. */
export const flag: Check = (field, value) => {
  if (typeof value !== 'boolean') throw invalid(field, 'must be true or false')
}
/** One of these texts. */
export const oneOf =
  (...values: readonly string[]): Check =>
  (field, value) => {
    if (!values.includes(value as string))
      throw invalid(field, `must be ${values.map((v) => `'${v}'`).join(' or ')}`)
  }
/** A list of texts. */
export const texts: Check = (field, value) => {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw invalid(field, 'must be a list of texts')
  }
}
/** `*`, an origin (`https://app.example.com`), or a list of origins, each as browsers spell it. */
export const origins: Check = (field, value) => {
  const isOrigin = (text: unknown) =>
    text === '*' || (typeof text === 'string' && parseUrl(text)?.origin === text)
  if (!(Array.isArray(value) ? value.every(isOrigin) : isOrigin(value))) {
    throw invalid(field, "must be '*' or origins such as https://app.example.com")
  }
}
/** A door: an object with these methods. */
export const door =
  (...methods: readonly string[]): Check =>
  (field, value) => {
    if (typeof value !== 'object' || value === null) throw invalid(field, 'must be an object')
    const lacking = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== 'function')
    if (lacking !== undefined) throw invalid(field, `must have a method ${lacking}`)
  }
/** Functions by name. */
export const functions: Check = (field, value) => {
  if (typeof value !== 'object' || value === null)
    throw invalid(field, 'must be an object of functions by name')
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'function') throw invalid(`${field}.${name}`, 'must be a function')
  }
}
/** Checked elsewhere. */
export const anything: Check = () => {}
