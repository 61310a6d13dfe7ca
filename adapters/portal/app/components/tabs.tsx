/** The sections of a screen as links, so that each has an address. */
interface Tab {
  readonly name: string
  readonly label: string
  readonly href: string
}

export function Tabs({ tabs, current, label }: { tabs: readonly Tab[]; current: string; label: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, label: text, href }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
