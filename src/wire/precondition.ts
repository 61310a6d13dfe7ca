/** Conditional requests (RFC 9110, section 13). An entity tag is the revision in quotes: `"3"`. */

const REVISION_TAG = /^"([1-9][0-9]{0,15})"$/

const parseTags = (header: string): readonly string[] => header.split(',').map((tag) => tag.trim())

/** Returns whether `If-None-Match` matches the revision, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesRevision(ifNoneMatch: string | undefined, revision: number): boolean {
  if (ifNoneMatch === undefined) return false
  const tag = `"${revision}"`
  return parseTags(ifNoneMatch).some((sent) => sent === '*' || sent === tag || sent === `W/${tag}`)
}

/**
 * Returns the revisions that `If-Match` allows; `undefined`: any. Comparison is strong (RFC 9110, section 13.1.1): weak
 * and foreign tags match no revision.
 */
export function allowedRevisions(ifMatch: string | undefined): readonly number[] | undefined {
  if (ifMatch === undefined) return undefined
  const tags = parseTags(ifMatch)
  if (tags.includes('*')) return undefined
  return tags.flatMap((tag) => {
    const match = REVISION_TAG.exec(tag)
    return match ? [Number(match[1])] : []
  })
}
