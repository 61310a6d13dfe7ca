/** Further actions behind one button. */
import { Icon } from './icon.js'
import { Popup } from './popup.js'

interface MenuAction {
  readonly text: string
  readonly onSelect: () => void
  readonly isDanger?: boolean
}

interface MenuLink {
  readonly text: string
  readonly href: string
}

type MenuItem = MenuAction | MenuLink

interface MenuProps {
  /** Name of the button, which shows three dots. */
  readonly label: string
  readonly items: readonly MenuItem[]
}

export function Menu({ label, items }: MenuProps) {
  return (
    <Popup class="btn icon" label={label} align="end" button={<Icon name="more" />}>
      {(close) => <MenuItems items={items} onSelected={close} />}
    </Popup>
  )
}

/** The items of an open menu. */
function MenuItems(props: { readonly items: readonly MenuItem[]; readonly onSelected: () => void }) {
  return (
    <ul class="items">
      {props.items.map((item) => (
        <li key={item.text}>
          {'href' in item ? (
            <a class="item" href={item.href} onClick={props.onSelected}>
              {item.text}
            </a>
          ) : (
            <button
              type="button"
              class={item.isDanger ? 'item is-bad' : 'item'}
              onClick={() => {
                // First, so that a dialog which opens takes the focus from the button and gives it back.
                props.onSelected()
                item.onSelect()
              }}
            >
              {item.text}
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
