"""The table of AMD's compute units."""

from xlareport.knowledge.compute_units import amd_target_of, compute_units


def test_every_row_has_its_source() -> None:
    """Each says where its figures are from, and what AMD's own table has of it."""
    for key, unit in compute_units().items():
        assert key == unit.capability == amd_target_of(unit.source)
        assert "LLVM" in unit.source
        assert "ROCm" in unit.source
        assert unit.warp in (32, 64)
        assert unit.shared % unit.shared_unit == 0


def test_wide_wavefronts_have_half_of_the_registers() -> None:
    """RDNA runs code for wavefronts of 64, too."""
    unit = compute_units()["gfx1100"]
    wide = unit.running(64, in_pairs=False)
    assert (wide.registers, wide.register_unit, wide.warp) == (768, 12, 64)
    assert unit.running(None, in_pairs=False) == unit
    cdna = compute_units()["gfx90a"]
    assert cdna.running(64, in_pairs=True) == cdna


def test_targets() -> None:
    """As file names, code objects and device descriptions have them."""
    names = ("amdgcn-amd-amdhsa--gfx90a:sramecc+", "gfx942", "AMD gfx1100 x", "sm_90a", "gfx90ab1")
    assert [amd_target_of(name) for name in names] == ["gfx90a", "gfx942", "gfx1100", "", ""]
