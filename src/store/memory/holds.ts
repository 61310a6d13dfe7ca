/** The holds port: a set of scopes. */
export function memoryHolds() {
  const held = new Set<string>()
  return {
    list: (): readonly string[] => [...held].sort(),
    put: (scope: string): boolean => held.size < held.add(scope).size,
    remove: (scope: string): boolean => held.delete(scope),
  }
}
