/** Writes a page for each subpath of the package, from its types and their docstrings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'
import { PAGES, TYPES } from './pages.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The source of each subpath: `hookswitch/node` and `./adapters/http/node.ts`. */
const SOURCES = Object.entries(
  JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')).compilerOptions.paths as Record<
    string,
    string[]
  >,
).map(([subpath, [source = '']]) => ({ subpath, source: join(ROOT, source) }))

/** The subpaths with their pages, for the list beside each page. */
export const TYPE_PAGES = SOURCES.map(({ subpath }) => ({ text: subpath, link: `/${TYPES}/${subpath}` }))

/** Writes the pages. @throws if a type cannot be read */
export async function writeTypePages(): Promise<void> {
  const application = await Application.bootstrapWithPlugins({
    entryPoints: SOURCES.map(({ source }) => source),
    tsconfig: join(ROOT, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    readme: 'none',
    // `npm run typecheck` reports errors.
    skipErrorChecking: true,
    logLevel: 'Error',
    disableSources: true,
    excludePrivate: true,
    excludeExternals: true,
    ...({
      out: join(PAGES, TYPES),
      entryFileName: 'index',
      outputFileStrategy: 'modules',
      tableColumnSettings: { hideModifiers: true, hideInherited: true, hideOverrides: true },
      hidePageHeader: true,
      hideBreadcrumbs: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      typeAliasPropertiesFormat: 'table',
    } as object),
  })
  const entries = application.getEntryPoints() ?? []
  for (const entry of entries) {
    const path = entry.sourceFile.fileName
    entry.displayName = SOURCES.find(({ source }) => source === path)?.subpath ?? entry.displayName
  }
  await application.generateOutputs(application.converter.convert(entries))
}
