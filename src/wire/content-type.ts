/** Content negotiation: `Content-Type` of requests and `Accept`. */

const JSON_TYPES = new Set(['application/json', 'application/x-json'])
const FORM_TYPES = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

/** MIME type essence: `type/subtype` without parameters. */
function essence(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/**
 * Returns whether a body with this content type is read as JSON. A missing content type counts as JSON, and so does a
 * form type if the body is JSON: plain `curl -d` sends that.
 */
export function isJsonContentType(contentType: string | undefined, bodyIsJson: boolean): boolean {
  if (contentType === undefined || contentType.trim() === '') return true
  const type = essence(contentType)
  return JSON_TYPES.has(type) || (bodyIsJson && FORM_TYPES.has(type))
}

/** Specificity of the media ranges that match JSON; the most specific one decides (RFC 9110, section 12.5.1). */
const SPECIFICITY: Readonly<Record<string, number>> = Object.freeze({
  'application/json': 3,
  'application/x-json': 3,
  'application/*': 2,
  '*/*': 1,
  '*': 1,
})

const ZERO_QUALITY = /^q\s*=\s*0(\.0{0,3})?$/i

/** Returns whether `Accept` allows JSON. The header only matters if it excludes JSON. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json' || accept.trim() === '') {
    return true
  }
  let best = 0
  let accepted = false
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const specificity = SPECIFICITY[type.toLowerCase()] ?? 0
    const isExcluded = parameters.some((parameter) => ZERO_QUALITY.test(parameter))
    if (specificity > best) accepted = !isExcluded
    else if (specificity === best && specificity > 0) accepted ||= !isExcluded
    best = Math.max(best, specificity)
  }
  return accepted
}
