/**
 * Applies a JSON Merge Patch (RFC 7396): objects are merged at every depth, `null` removes a member, and any other
 * value replaces the target.
 */
export function jsonMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, jsonMergePatch(merged.get(key), value))
  }
  // fromEntries defines properties: a key named __proto__ stays data.
  return Object.fromEntries(merged)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
