/** Entity tags of conditional requests (RFC 9110, section 13). Our tags hold the revision: `"3"`. */

const REVISION_TAG = /^"([1-9][0-9]{0,15})"$/

const tagsOf = (header: string): readonly string[] => header.split(',').map((tag) => tag.trim())

/** Whether `If-None-Match` names this revision; tags are compared weakly, as for every such header. */
export function namesRevision(ifNoneMatch: string | undefined, revision: number): boolean {
  if (ifNoneMatch === undefined) return false
  const tag = `"${revision}"`
  return tagsOf(ifNoneMatch).some((sent) => sent === '*' || sent === tag || sent === `W/${tag}`)
}

/**
 * The revisions that `If-Match` allows; `undefined`: any. Compared strongly: a weak tag, or one that is not ours,
 * allows none.
 */
export function allowedRevisions(ifMatch: string | undefined): readonly number[] | undefined {
  if (ifMatch === undefined) return undefined
  const tags = tagsOf(ifMatch)
  if (tags.includes('*')) return undefined
  return tags.flatMap((tag) => {
    const match = REVISION_TAG.exec(tag)
    return match ? [Number(match[1])] : []
  })
}
