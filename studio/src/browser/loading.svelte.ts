// What is being loaded, for the bar at the top of the page.

class Loading {
  what = $state<string | null>(null);
  part = $state(0);

  /** Returns the function that reports progress, 0 to 1. */
  begin(what: string): (part: number) => void {
    this.what = what;
    this.part = 0;
    return (part) => (this.part = part);
  }

  end(): void {
    this.what = null;
  }
}

export const loading = new Loading();
