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

/** Specificity of media ranges; the most specific one that matches decides (RFC 9110, section 12.5.1). */
type Specificity = Readonly<Record<string, number>>

const JSON_RANGES: Specificity = Object.freeze({
  'application/json': 3,
  'application/x-json': 3,
  'application/*': 2,
  '*/*': 1,
  '*': 1,
})
const EVENT_STREAM_RANGES: Specificity = Object.freeze({
  'text/event-stream': 3,
  'text/*': 2,
  '*/*': 1,
  '*': 1,
})

const ZERO_QUALITY = /^q\s*=\s*0(\.0{0,3})?$/i

/** Returns whether `Accept` allows JSON. The header only matters if it excludes JSON. */
export function acceptsJson(accept: string | undefined): boolean {
  return accept === 'application/json' || acceptsOneOf(accept, JSON_RANGES)
}

/** Returns whether `Accept` allows an event stream. */
export function acceptsEventStream(accept: string | undefined): boolean {
  return acceptsOneOf(accept, EVENT_STREAM_RANGES)
}

function acceptsOneOf(accept: string | undefined, ranges: Specificity): boolean {
  if (accept === undefined || accept === '*/*' || accept.trim() === '') return true
  let best = 0
  let accepted = false
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const specificity = ranges[type.toLowerCase()] ?? 0
    const isExcluded = parameters.some((parameter) => ZERO_QUALITY.test(parameter))
    if (specificity > best) accepted = !isExcluded
    else if (specificity === best && specificity > 0) accepted ||= !isExcluded
    best = Math.max(best, specificity)
  }
  return accepted
}
