/** Writes docs/operate/settings.md from the table of settings. */
import { flagOf, variableOf } from '../../adapters/cli/setting-names.js'
import { isList } from '../../adapters/cli/setting-schema.js'
import { SETTING_GROUPS, type SettingName, settingOf } from '../../adapters/cli/settings.js'

/** The generated page, relative to the root. */
export const SETTINGS_FILE = 'docs/operate/settings.md'

const HEAD = `# Settings

<!-- Made by "npm run generate" from adapters/cli/settings.ts. Do not edit. -->

For operators: every setting of \`hookswitch serve\`. How a setting is written in the file, in a variable and in a flag, and
which of them holds: [Configuration](configuration.md). A setting marked ↻ is applied by SIGHUP; the others need a restart.
`

/** The page as Markdown. */
export function settingsReference(): string {
  const tables = SETTING_GROUPS.map(([title, names]) =>
    [
      `## ${title}`,
      '',
      '| Key in the file | Flag | Variable | Default | Meaning |',
      '|---|---|---|---|---|',
      ...names.map(row),
      '',
    ].join('\n'),
  )
  return [HEAD, ...tables].join('\n')
}

function row(name: SettingName): string {
  const {
    argument,
    about,
    default: value,
    defaultText,
    hasFlag,
    isInFile,
    alias,
    reloadable,
    schema,
  } = settingOf(name)
  const flags = [
    flagOf(name),
    ...(value === true ? [`--no-${flagOf(name).slice(2)}`] : []),
    ...(alias ? [alias] : []),
  ]
  const shown = flags.map((flag) => `\`${escaped(argument === undefined ? flag : `${flag} ${argument}`)}\``)
  const byDefault = value === undefined ? (defaultText ?? '') : `\`${value}\``
  const meaning = escaped(about) + (isList(schema) ? '; repeatable' : '') + (reloadable ? ' ↻' : '')
  const cells = [
    isInFile === false ? '' : `\`${name}\``,
    hasFlag === false ? '' : shown.join(', '),
    `\`${variableOf(name)}\``,
    escaped(byDefault),
    meaning,
  ]
  return `| ${cells.join(' | ')} |`
}

const escaped = (text: string) => text.replaceAll('|', '\\|')
