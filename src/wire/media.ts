const JSON_TYPES = new Set(['application/json', 'application/x-json'])
const FORM_TYPES = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

function essence(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/**
 * Whether a body of this media type is read as JSON. A form type is when its body is JSON all the same: plain
 * `curl -d` sends it. No type at all is taken for JSON.
 */
export function isJsonType(contentType: string | undefined, bodyIsJson: boolean): boolean {
  if (contentType === undefined || contentType.trim() === '') return true
  const type = essence(contentType)
  return JSON_TYPES.has(type) || (bodyIsJson && FORM_TYPES.has(type))
}

/** How well a media range names JSON: the more exact one decides (RFC 9110, section 12.5.1). */
const EXACTNESS: Readonly<Record<string, number>> = Object.freeze({
  'application/json': 3,
  'application/x-json': 3,
  'application/*': 2,
  '*/*': 1,
  '*': 1,
})

const ZERO_QUALITY = /^q\s*=\s*0(\.0{0,3})?$/i

/** Whether an `Accept` header lets us answer with JSON: it is ignored unless it excludes it. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json' || accept.trim() === '') {
    return true
  }
  let best = 0
  let accepted = false
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const exactness = EXACTNESS[type.toLowerCase()] ?? 0
    const refused = parameters.some((parameter) => ZERO_QUALITY.test(parameter))
    if (exactness > best) accepted = !refused
    else if (exactness === best && exactness > 0) accepted ||= !refused
    best = Math.max(best, exactness)
  }
  return accepted
}
