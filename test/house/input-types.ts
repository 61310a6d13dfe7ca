import { join } from 'node:path'
import ts from 'typescript'

/** An optional property of an input whose type does not include `undefined`. */
export interface ClosedProperty {
  /** `src/options/options.ts: HookswitchOptions.secret` */
  readonly name: string
  readonly declaration: ts.Declaration
}

/** Whether values of a type come from the host or go to it. */
type Direction = 'input' | 'output'

/**
 * Finds the optional properties that a host may set and whose type does not include `undefined`: with
 * `exactOptionalPropertyTypes` such a property cannot be set from `process.env.X`.
 *
 * Begins with the values that a module exports. The parameters of their functions are inputs, without what functions of the
 * host among them take and return.
 *
 * @param skipped names of types that hosts do not write
 */
export function closedInputs(
  program: ts.Program,
  root: string,
  modules: readonly string[],
  skipped: ReadonlySet<string>,
): readonly ClosedProperty[] {
  const checker = program.getTypeChecker()
  const visited = { input: new Set<ts.Type>(), output: new Set<ts.Type>() }
  const found = new Map<ts.Declaration, ClosedProperty>()
  const isOwn = (declaration: ts.Declaration) => {
    const { fileName } = declaration.getSourceFile()
    return fileName.startsWith(join(root, 'src')) || fileName.startsWith(join(root, 'adapters'))
  }

  function visit(type: ts.Type, direction: Direction): void {
    if (visited[direction].has(type)) return
    visited[direction].add(type)
    const symbol = type.getSymbol()
    if (skipped.has(symbol?.getName() ?? '') || skipped.has(type.aliasSymbol?.getName() ?? '')) return
    if (type.isUnion()) {
      for (const part of type.types) visit(part, direction)
      return
    }
    const constraint = type.isTypeParameter() ? type.getConstraint() : undefined
    if (constraint) visit(constraint, direction)
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return
    if (!symbol?.declarations?.some(isOwn))
      for (const argument of checker.getTypeArguments(type as ts.TypeReference)) visit(argument, direction)
    for (const { type: value } of checker.getIndexInfosOfType(type)) visit(value, direction)
    if (direction === 'output') {
      for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()])
        visitSignature(signature)
    }
    for (const property of type.getProperties()) visitProperty(property, direction)
  }

  function visitSignature(signature: ts.Signature): void {
    for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter), 'input')
    visit(signature.getReturnType(), 'output')
  }

  function visitProperty(property: ts.Symbol, direction: Direction): void {
    const declaration = property.declarations?.[0]
    if (!declaration || !isOwn(declaration)) return
    const type = checker.getTypeOfSymbol(property)
    visit(type, direction)
    if (direction === 'output' || !(property.flags & ts.SymbolFlags.Optional)) return
    // A method of a port: who implements it leaves it out.
    if (ts.isMethodSignature(declaration)) return
    if (includesUndefined(type)) return
    const file = declaration.getSourceFile().fileName.slice(root.length).replace(/^\//, '')
    const parent = declaration.parent as ts.Node & { readonly name?: ts.Identifier }
    const owner = parent.name ? `${parent.name.text}.` : ''
    found.set(declaration, { name: `${file}: ${owner}${property.getName()}`, declaration })
  }

  /** Whether `undefined` may be written. A property that may be absent has another type of the same name. */
  function includesUndefined(type: ts.Type): boolean {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return true
    const parts = type.isUnion() ? type.types : [type]
    return parts.includes(checker.getUndefinedType())
  }

  for (const module of modules) {
    const source = program.getSourceFile(join(root, module))
    const symbol = source && checker.getSymbolAtLocation(source)
    if (!symbol) throw new Error(`${module} is no module of the program`)
    for (const exported of checker.getExportsOfModule(symbol)) {
      const target = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      if (target.flags & ts.SymbolFlags.Value) visit(checker.getTypeOfSymbol(target), 'output')
    }
  }
  return [...found.values()]
}
